// The statements by which a worker loads rows it has claimed, and their chunks in the target. They
// run as the owner of the source.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// The texts of rows, and the columns that the template uses.
class LoadRows final {
 public:
  explicit LoadRows(const StatementTexts& texts);

  /// Called for each row; its result for the last one of a part tells whether to continue.
  using Take = std::function<bool(pipeline::LoadedRow)>;

  /// For a row with more bytes than this, only the size is loaded.
  void Execute(pg::Spi& spi, std::span<const Tid> tids, std::size_t most_bytes, const Take& take);

 private:
  pg::Statement statement_;
  int columns_;  // of the template
};

/// The numbers and hashes of the rows' chunks in the target.
class LoadChunkHashes final {
 public:
  explicit LoadChunkHashes(const StatementTexts& texts);

  struct OldChunk {
    Tid tid;
    std::int32_t number;
    policy::ContentHash hash;
  };
  std::vector<OldChunk> Execute(pg::Spi& spi, std::span<const Tid> tids);

 private:
  pg::Statement statement_;
};

/// Called with a vector from the target and the hash of its text. The vector is valid during the
/// call.
using TakeVector = std::function<void(const policy::ContentHash&, std::span<const float>)>;

/// The vectors of rows in the target.
class LoadVectorsOfRows final {
 public:
  explicit LoadVectorsOfRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const TakeVector& take);

 private:
  pg::Statement statement_;
};

/// The vectors of texts in the target, of any row.
class LoadVectorsOfTexts final {
 public:
  explicit LoadVectorsOfTexts(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const policy::ContentHash> hashes, const TakeVector& take);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
