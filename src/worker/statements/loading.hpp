// The statements by which a worker loads rows that it has claimed, and what the target has of them.
// They run as the owner of the source.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// The texts of rows, and the columns that the template uses.
class LoadRows final {
 public:
  explicit LoadRows(const StatementTexts& texts);

  /// Is given each row; what it says to the last one of a part tells whether to go on.
  using Take = std::function<bool(pipeline::LoadedRow)>;

  /// Of a row with more bytes than that, only their number is loaded.
  void Execute(pg::Spi& spi, std::span<const Tid> tids, std::size_t most_bytes, const Take& take);

 private:
  pg::Statement statement_;
  int columns_;  // of the template
};

/// The numbers and hashes of the chunks that the target has of rows.
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

/// Is given a vector that the target has, and the hash of its text. The vector is good for the
/// call.
using TakeVector = std::function<void(const policy::ContentHash&, std::span<const float>)>;

/// The vectors that the target has of rows.
class LoadVectorsOfRows final {
 public:
  explicit LoadVectorsOfRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const TakeVector& take);

 private:
  pg::Statement statement_;
};

/// The vectors that the target has of texts, whatever row they are of.
class LoadVectorsOfTexts final {
 public:
  explicit LoadVectorsOfTexts(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const policy::ContentHash> hashes, const TakeVector& take);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
