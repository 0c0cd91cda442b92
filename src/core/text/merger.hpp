// Merges small pieces of a document into chunks, with whole pieces as overlap. This is the heart of
// the character and the recursive splitter.
//
// The length of a chunk is the sum of the lengths of its pieces and of the separators between them,
// never a measurement of the joined text: with tokens the two differ, and the sum is the reference.
// A piece above the chunk size becomes a chunk of its own; nothing is ever cut here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/text/splitter.hpp"
#include "core/text/tail_window.hpp"

namespace ai::text {

/// Throws Error(kInvalidParameter) unless chunk_size > 0 and 0 <= chunk_overlap <= chunk_size.
void ValidateMergedSizes(const SplitterOptions& options);

class Merger {
 public:
  /// INVARIANT: document and sink outlive the merger; options passed ValidateMergedSizes.
  Merger(std::string_view document, const SplitterOptions& options, ChunkSink& sink)
      : document_(document),
        sink_(&sink),
        size_(static_cast<std::size_t>(options.chunk_size)),
        overlap_(static_cast<std::size_t>(options.chunk_overlap)),
        strip_(options.strip_whitespace) {}

  /// Starts a group of pieces that will be joined with join, which measures join_length.
  /// INVARIANT: join outlives the group.
  void Begin(std::string_view join, std::size_t join_length) {
    join_ = join;
    join_length_ = join_length;
    tail_.Reset(overlap_, join_length);
    Forget();
  }

  /// Adds the next piece, which is not empty and measures length.
  void Add(Span piece, std::size_t length) {
    if (!empty_ && total_ + length + join_length_ > size_) {
      EmitAndKeepOverlap(length);
    }
    if (empty_) {
      empty_ = false;
      begin_ = piece.begin;
    } else {
      total_ += join_length_;
      if (!slice_ || !FollowsExactly(piece)) {
        AppendCopy(piece);
      }
    }
    total_ += length;
    end_ = piece.end;
    tail_.Push(piece, length);
  }

  /// Sends what is left and ends the group; no overlap crosses this point.
  void Finish() {
    if (!empty_) {
      Emit();
      tail_.Clear();
      Forget();
    }
  }

 private:
  /// A chunk stays a slice as long as what lies between its pieces is exactly the join string.
  bool FollowsExactly(Span piece) const {
    const std::size_t gap = piece.begin - end_;
    return gap == join_.size() && (gap == 0 || document_[end_] == join_[0]) &&
           (gap <= 1 || document_.substr(end_, gap) == join_);
  }

  void AppendCopy(Span piece);
  void Emit();
  void EmitAndKeepOverlap(std::size_t next_length);
  void Forget();

  std::string_view document_;
  ChunkSink* sink_;
  std::size_t size_;
  std::size_t overlap_;
  bool strip_;

  std::string_view join_;
  std::size_t join_length_ = 0;

  // The chunk that is growing: [begin_, end_) of the document while slice_ is true, else joined_.
  bool empty_ = true;
  bool slice_ = true;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t total_ = 0;
  std::size_t last_gap_ = 0;  // the start of the last piece that did not follow on exactly
  std::string joined_;
  TailWindow tail_;
};

}  // namespace ai::text
