// See merger.hpp.
#include "core/text/merger.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace ai::text {

void ValidateMergedSizes(const SplitterOptions& options) {
  ValidateChunkSize(options);
  ValidateChunkOverlap(options);
  if (options.chunk_overlap > options.chunk_size) {
    throw Error(ErrorCode::kInvalidParameter, "chunk_overlap (" +
                                                  std::to_string(options.chunk_overlap) +
                                                  ") must not be larger than chunk_size (" +
                                                  std::to_string(options.chunk_size) + ")");
  }
}

void Merger::AppendCopy(Span piece) {
  if (slice_) {
    joined_.assign(document_, begin_, end_ - begin_);
    slice_ = false;
  }
  if (!FollowsExactly(piece)) {
    last_gap_ = piece.begin;
  }
  joined_.append(join_).append(document_, piece.begin, piece.end - piece.begin);
}

void Merger::Emit() {
  std::string_view chunk = slice_ ? document_.substr(begin_, end_ - begin_) : joined_;
  if (strip_) {
    chunk = utf8::Strip(chunk);
  }
  if (!chunk.empty()) {
    sink_->Add(chunk);
  }
}

void Merger::EmitAndKeepOverlap(std::size_t next_length) {
  Emit();
  // What is kept must leave room for the next piece. If that is too long by itself, only pieces of
  // no length stay, because they would make no room by leaving.
  const std::size_t needed = next_length + join_length_;
  tail_.Keep(std::min(overlap_, size_ - std::min(size_, needed)), TailWindow::kAnyNumber);
  if (tail_.empty()) {
    Forget();
    return;
  }
  total_ = tail_.total();
  begin_ = tail_[0].begin;
  slice_ = last_gap_ <= begin_;
  joined_.clear();
  for (std::size_t i = 0; i < tail_.size() && !slice_; ++i) {
    const Span piece = tail_[i];
    joined_.append(i == 0 ? std::string_view() : join_)
        .append(document_, piece.begin, piece.end - piece.begin);
  }
}

void Merger::Forget() {
  empty_ = true;
  slice_ = true;
  total_ = 0;
  joined_.clear();
}

}  // namespace ai::text
