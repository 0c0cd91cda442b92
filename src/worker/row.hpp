// A source row on its way through a worker: taken, cut into chunks, waiting for vectors, ready to
// be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/content_hash.hpp"
#include "core/provider/embeddings.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

/// Where a row that was taken stands in the table of work.
using Place = ItemPointerData;

/// One vector of a reply that several chunks may share.
struct VectorOf {
  std::shared_ptr<const provider::Embeddings> reply;
  std::size_t index = 0;

  explicit operator bool() const { return reply != nullptr; }
  std::span<const float> view() const { return (*reply)[index]; }
};

/// A row as it was read, before it is cut into chunks.
struct Read {
  Place place;
  std::int32_t attempts = 0;
  std::optional<std::string> text;
  std::vector<std::optional<std::string>> columns;                       // of the template
  std::vector<std::pair<std::int32_t, policy::ContentHash>> old_chunks;  // by their numbers
};

struct Chunk {
  std::string text;
  policy::ContentHash hash;
  bool kept = false;           // it stands in the target already, at the same place
  std::size_t sent_bytes = 0;  // how much of the text goes to the model
  std::size_t tokens = 0;      // of that
  VectorOf vector = {};
};

struct Row {
  Place place;
  std::int32_t attempts = 0;
  std::size_t old_chunks = 0;  // in the target, when it was read
  std::vector<Chunk> chunks = {};
  std::size_t waiting = 0;  // chunks without a vector
  std::size_t bytes = 0;    // of memory, about
  bool over = false;        // given up: what comes for it is ignored
};

using RowPtr = std::shared_ptr<Row>;

/// A chunk that has to be sent.
struct Item {
  RowPtr row;
  std::size_t chunk = 0;

  Chunk& get() const { return row->chunks[chunk]; }
};

}  // namespace ai::worker
