// Cuts a text at a separator. Capture groups of a pattern mean nothing here: only the whole match
// counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/text/byte_finder.hpp"
#include "core/text/code_points.hpp"
#include "core/text/pattern.hpp"
#include "core/text/separator.hpp"
#include "core/text/splitter.hpp"

namespace ai::text {

/// Yields the pieces of a part of a document, cut at one separator, from left to right. Never
/// yields an empty piece. With a kept separator the pieces follow each other without a gap.
class Cutter {
 public:
  Cutter(std::string_view document, KeepSeparator keep, InterruptCheck pending)
      : document_(document),
        pending_(pending),
        keep_start_(keep == KeepSeparator::kStart),
        keep_end_(keep == KeepSeparator::kEnd) {}

  /// Starts on part. True if there is a place to cut at. A pattern sees only part, as if it were a
  /// text of its own. INVARIANT: separator outlives the cutting.
  bool Begin(const Separator& separator, Span part);

  /// The next piece, in offsets of the document; false at the end.
  bool Next(Span& piece) {
    while (start_ < part_.end) {
      piece.begin = start_;
      if (separator_->cuts_everywhere()) {
        start_ = NextCodePoint(document_, start_);
        piece.end = start_;
        return true;
      }
      if (!has_match_) {
        start_ = piece.end = part_.end;
        return true;
      }
      piece.end = keep_end_ ? match_.end : match_.begin;
      start_ = keep_start_ ? match_.begin : match_.end;
      has_match_ = single_byte_ ? FindByte() : FindMatch(match_.end);
      if (piece.begin < piece.end) {
        return true;
      }
    }
    return false;
  }

 private:
  bool FindByte() {
    match_.begin = byte_finder_.Next();
    match_.end = match_.begin + 1;
    return match_.begin != ByteFinder::kNone;
  }

  /// Moves match_ to the next match; a literal is searched from the offset.
  bool FindMatch(std::size_t from);
  const char* FindLiteral(std::size_t from) const;

  std::string_view document_;
  InterruptCheck pending_;
  bool keep_start_;
  bool keep_end_;

  const Separator* separator_ = nullptr;
  bool single_byte_ = false;
  ByteFinder byte_finder_;
  std::optional<Pattern::Finder> pattern_finder_;
  Span part_ = {0, 0};
  std::size_t start_ = 0;  // where the next piece begins
  Span match_ = {0, 0};    // where it ends, if has_match_
  bool has_match_ = false;
};

}  // namespace ai::text
