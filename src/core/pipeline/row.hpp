// A row on its way through a pipeline: claimed, loaded, chunked, waiting for vectors, ready to be
// stored.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/pipeline/step.hpp"
#include "core/policy/content_hash.hpp"
#include "core/provider/embeddings.hpp"

namespace ai::pipeline {

/// The position of a claimed row in the work table.
struct Tid {
  std::uint32_t block = 0;
  std::uint16_t offset = 0;

  bool operator==(const Tid&) const = default;
  bool operator<(const Tid& other) const {
    return block != other.block ? block < other.block : offset < other.offset;
  }
};

/// The id of a job, or the key of a configuration.
using Uuid = std::array<std::uint8_t, 16>;

/// Vectors of one row that do not fit into memory.
class VectorFile {
 public:
  VectorFile() = default;
  VectorFile(const VectorFile&) = delete;
  VectorFile& operator=(const VectorFile&) = delete;
  virtual ~VectorFile() = default;

  /// Appends a vector and returns its number.
  virtual Step<std::size_t> Append(std::span<const float> vector) = 0;
  /// Reads a vector into the buffer, to be stored.
  virtual std::span<const float> Read(std::size_t number, std::vector<float>& buffer) const = 0;
};

/// One vector of a reply, which several chunks may share, or of a file.
struct VectorOf {
  std::shared_ptr<const provider::Embeddings> reply;
  std::size_t index = 0;
  std::shared_ptr<const VectorFile> file = {};

  explicit operator bool() const { return reply != nullptr || file != nullptr; }
  /// INVARIANT: not of a file.
  std::span<const float> view() const { return (*reply)[index]; }
  /// The vector; read into the buffer if it is in a file.
  std::span<const float> Load(std::vector<float>& buffer) const {
    return file != nullptr ? file->Read(index, buffer) : view();
  }
};

/// A row as loaded, before it is chunked.
struct LoadedRow {
  Tid tid = {};
  std::int32_t attempts = 0;
  std::optional<std::string> text = std::nullopt;
  std::vector<std::optional<std::string>> columns = {};                       // of the template
  std::vector<std::pair<std::int32_t, policy::ContentHash>> old_chunks = {};  // by number
  std::size_t size = 0;                                                       // text and columns
  std::string problem = {};       // why it can never be embedded; empty if it can
  Uuid job = {};                  // if the row is one
  policy::ContentHash hash = {};  // of a job's text
};

struct Chunk {
  std::string text;
  policy::ContentHash hash;
  bool kept = false;           // the target already has it, with the same number
  std::size_t sent_bytes = 0;  // how much of the text is sent
  std::size_t tokens = 0;      // of that
  VectorOf vector = {};
};

struct Job {
  Uuid id;
  Tid tid;  // when it was claimed
};

struct Row {
  Tid tid = {};
  std::int32_t attempts = 0;
  std::size_t old_chunks = 0;  // in the target, at loading
  std::vector<Chunk> chunks = {};
  std::size_t waiting = 0;                // chunks without a vector
  std::size_t to_send = 0;                // the same, when the first of them was to be sent
  std::size_t bytes = 0;                  // of memory, estimated
  bool ended = false;                     // its lease has ended: replies for it are ignored
  std::shared_ptr<VectorFile> file = {};  // for its vectors, if there are many
  std::vector<Job> jobs = {};             // jobs with this text, if it is not a row of a vectorizer
};

using RowPtr = std::shared_ptr<Row>;

/// A chunk that has to be sent.
struct Item {
  RowPtr row;
  std::size_t chunk = 0;

  Chunk& get() const { return row->chunks[chunk]; }
};

}  // namespace ai::pipeline
