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
#include "worker/job_group.hpp"
#include "worker/vector_spill.hpp"

namespace ai::worker {

/// Where a row that was taken stands in the table of work.
using Place = ItemPointerData;

/// One vector of a reply that several chunks may share, or of a file.
struct VectorOf {
  std::shared_ptr<const provider::Embeddings> reply;
  std::size_t index = 0;
  std::shared_ptr<const VectorSpill> spill = {};

  explicit operator bool() const { return reply != nullptr || spill != nullptr; }
  /// INVARIANT: not of a file.
  std::span<const float> view() const { return (*reply)[index]; }
  /// The vector, in the buffer if it has to be read.
  std::span<const float> Load(std::vector<float>& buffer) const {
    return spill != nullptr ? spill->Read(index, buffer) : view();
  }
};

/// A row as it was read, before it is cut into chunks.
struct Read {
  Place place;
  std::int32_t attempts = 0;
  std::optional<std::string> text;
  std::vector<std::optional<std::string>> columns;                       // of the template
  std::vector<std::pair<std::int32_t, policy::ContentHash>> old_chunks;  // in order of numbers
  std::size_t size = 0;                                                  // of text and columns
  std::string problem = {};       // why it can never be embedded, if there is a reason
  Uuid job = {};                  // if it is one
  policy::ContentHash hash = {};  // of a job's text
};

struct Chunk {
  std::string text;
  policy::ContentHash hash;
  bool kept = false;           // it stands in the target already, at the same place
  std::size_t sent_bytes = 0;  // how much of the text goes to the model
  std::size_t tokens = 0;      // of that
  VectorOf vector = {};
};

struct Job {
  Uuid id;
  Place place;  // where it was when it was taken
};

struct Row {
  Place place;
  std::int32_t attempts = 0;
  std::size_t old_chunks = 0;  // in the target, when it was read
  std::vector<Chunk> chunks = {};
  std::size_t waiting = 0;                  // chunks without a vector
  std::size_t bytes = 0;                    // of memory, about
  bool over = false;                        // given up: what comes for it is ignored
  std::shared_ptr<VectorSpill> spill = {};  // for its vectors, if they are many
  std::vector<Job> jobs = {};  // that have this text, if it is not a row of a vectorizer
};

using RowPtr = std::shared_ptr<Row>;

/// A chunk that has to be sent.
struct Item {
  RowPtr row;
  std::size_t chunk = 0;

  Chunk& get() const { return row->chunks[chunk]; }
};

}  // namespace ai::worker
