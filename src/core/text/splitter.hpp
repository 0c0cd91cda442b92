// What all text splitters have in common: the options, the stream of chunks, the interface.
//
// A splitter cuts one document into an ordered stream of chunks. It takes time in proportion to the
// document, needs extra memory in proportion to one chunk, never recurses on input, and asks the
// callback now and then whether to stop. Text is valid UTF-8. Nothing here normalises text, folds
// line ends or respects grapheme clusters.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "core/text/length.hpp"

namespace ai::text {

/// What becomes of a separator: it is dropped, starts the piece after it, ends the piece before it.
enum class KeepSeparator { kNone, kStart, kEnd };

/// The options of every splitter. Signed, so that Validate can name a negative value.
struct SplitterOptions {
  std::int64_t chunk_size = 4000;
  std::int64_t chunk_overlap = 200;
  bool strip_whitespace = true;
  std::shared_ptr<const LengthFunction> length;  // null: code points
};

/// Throws Error(kInvalidParameter) unless chunk_size is positive.
void ValidateChunkSize(const SplitterOptions& options);

/// Throws Error(kInvalidParameter) if chunk_overlap is negative.
void ValidateChunkOverlap(const SplitterOptions& options);

/// Takes the chunks of a document, in order.
class ChunkSink {
 public:
  ChunkSink() = default;
  ChunkSink(const ChunkSink&) = delete;
  ChunkSink& operator=(const ChunkSink&) = delete;
  virtual ~ChunkSink() = default;

  /// A chunk that is a slice of the document is a view into it; any other is valid only during the
  /// call. May throw, which ends the split.
  virtual void Add(std::string_view chunk) = 0;
};

/// Keeps all chunks of one document, copying only those that are no slices of it.
/// INVARIANT: the document outlives the list.
class ChunkList final : public ChunkSink {
 public:
  explicit ChunkList(std::string_view document) : document_(document) {}

  void Add(std::string_view chunk) override;

  const std::vector<std::string_view>& chunks() const { return chunks_; }

 private:
  std::string_view document_;
  std::vector<std::string_view> chunks_;
  std::deque<std::string> copies_;  // a deque, because it never moves its elements
};

class Splitter {
 public:
  Splitter() = default;
  Splitter(const Splitter&) = delete;
  Splitter& operator=(const Splitter&) = delete;
  virtual ~Splitter() = default;

  /// Sends the chunks of document to sink. Throws Error(kCancelled) when pending says so.
  /// INVARIANT: document is valid UTF-8, and a splitter is used by one thread at a time.
  virtual void Split(std::string_view document, ChunkSink& sink, InterruptCheck pending) const = 0;
};

}  // namespace ai::text
