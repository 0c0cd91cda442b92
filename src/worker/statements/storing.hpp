// The statements by which a worker writes vectors: to a table of chunks, or to a column of the
// source. They run as the owner of the source.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// A chunk that has to be written.
struct NewChunk {
  const pipeline::Row* row;
  std::size_t number;

  const pipeline::Chunk& get() const { return row->chunks[number]; }
};

/// Adds chunks to the target, or replaces those that have the same numbers.
class WriteChunks final {
 public:
  enum class Mode : std::uint8_t { kAdd, kReplace };
  WriteChunks(const StatementTexts& texts, const VectorTypes& types, Mode mode);

  /// The buffer is for vectors that have to be read from a file.
  void Execute(pg::Spi& spi, std::span<const NewChunk> chunks, std::vector<float>& buffer);

 private:
  pg::Statement statement_;
  Oid vector_type_;
};

/// Removes each row's chunks from a number on.
class TrimChunks final {
 public:
  explicit TrimChunks(const StatementTexts& texts);

  struct Length {
    Tid tid;
    std::size_t chunks;  // to keep
  };
  void Execute(pg::Spi& spi, std::span<const Length> lengths);

 private:
  pg::Statement statement_;
};

/// The rows that still exist in the source.
class FindAlive final {
 public:
  explicit FindAlive(const StatementTexts& texts);
  TidSet Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows);

 private:
  pg::Statement statement_;
};

/// Locks rows of the source, skipping locked ones.
class LockSourceRows final {
 public:
  explicit LockSourceRows(const StatementTexts& texts);
  TidSet Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows);

 private:
  pg::Statement statement_;
};

/// Writes the vectors of rows that have one chunk, or none, to the column of the source.
class UpdateColumn final {
 public:
  UpdateColumn(const StatementTexts& texts, const VectorTypes& types);
  void Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows);

 private:
  pg::Statement statement_;
  Oid vector_type_;
};

}  // namespace ai::worker
