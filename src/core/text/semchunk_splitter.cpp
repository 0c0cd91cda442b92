// See semchunk_splitter.hpp. How it works:
//
// In words, a piece that is too long is cut at its strongest delimiters, neighbouring parts are
// merged while they fit, and parts that are still too long are cut in the same way. Done like that,
// a text with a thousand kinds of delimiters is read a thousand times. But where a chunk ends can
// be told from a window of one chunk size after its start, and from the delimiter before it, the
// context, which says what the chunk is part of:
//  - if the window holds a delimiter stronger than the context, the piece that the chunk is part of
//    ends at the first such one, and the chunk with it;
//  - else the piece goes on beyond the window, and the chunk ends at the last one of the strongest
//    delimiters in the window, which becomes the context.
#include "core/text/semchunk_splitter.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text/measure.hpp"
#include "core/text/semchunk_delimiters.hpp"
#include "core/text/semchunk_window.hpp"
#include "core/utf8.hpp"

namespace ai::text {
namespace {

template <typename Measure>
class Walk {
 public:
  Walk(std::string_view text, const SemchunkSplitterOptions& options, const Measure& measure,
       ChunkSink& sink, InterruptCheck pending)
      : text_(text),
        measure_(measure),
        sink_(sink),
        pending_(pending),
        size_(static_cast<std::size_t>(options.chunk_size)),
        overlap_(std::min(static_cast<std::size_t>(options.chunk_overlap), size_ - 1)),
        strip_(options.strip_whitespace),
        window_(text, 0) {}

  void Run() {
    limit_ = FitFrom(0);
    while (start_ < text_.size()) {
      CheckInterrupt(pending_);
      const Delimiter cut = FindCut();
      const bool goes_on = cut.strength <= context_;
      context_ = cut.strength;
      const std::size_t end = EmitUpTo(cut);
      MoveTo(goes_on && overlap_ > 0 ? OverlapStart(cut, end) : cut.end());
    }
  }

 private:
  std::string_view Slice(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }

  /// The end of the longest chunk that may start at start; at least one code point.
  std::size_t FitFrom(std::size_t start) const {
    const std::size_t fits = measure_.Fit(text_.substr(start), size_);
    return fits == 0 ? NextCodePoint(text_, start) : start + fits;
  }

  Delimiter FindCut() {
    Delimiter cut = FindCutIn(window_, limit_);
    if constexpr (!Measure::kAdditive) {
      // A tokenizer may need fewer tokens for a longer text. What then sticks out is cut again,
      // within a limit that every turn makes shorter.
      while (cut.begin > NextCodePoint(text_, start_) &&
             measure_(Slice(start_, cut.begin)) > size_) {
        const std::size_t fits = measure_.Fit(Slice(start_, cut.begin), size_);
        const std::size_t limit =
            std::max(NextCodePoint(text_, start_),
                     std::min(start_ + fits, FloorToCodePoint(text_, cut.begin - 1)));
        DelimiterWindow narrowed(text_, start_);
        cut = FindCutIn(narrowed, limit);
      }
    }
    return cut;
  }

  Delimiter FindCutIn(DelimiterWindow& window, std::size_t limit) const {
    window.Move(start_, limit);
    Delimiter cut = window.Strongest(limit);
    if (cut.strength > context_) {
      DelimiterScanner scanner(text_, start_);
      while (scanner.strength() <= context_) {
        scanner.Advance();
      }
      cut = scanner.current();
    }
    return cut;
  }

  void Emit(std::size_t begin, std::size_t end) {
    const std::string_view chunk = Slice(begin, end);
    const std::string_view stripped = utf8::Strip(chunk);
    if (!stripped.empty()) {
      sink_.Add(strip_ ? stripped : chunk);
    }
  }

  /// Sends the chunk from start_ to cut and says where it ended. A joiner is part of it if it fits,
  /// else a chunk by itself that nothing overlaps with.
  std::size_t EmitUpTo(const Delimiter& cut) {
    if (cut.IsJoiner() && measure_(Slice(start_, cut.end())) <= size_) {
      Emit(start_, cut.end());
      return cut.end();
    }
    Emit(start_, cut.begin);
    if (cut.IsJoiner()) {
      Emit(cut.begin, cut.end());
    }
    return cut.begin;
  }

  void MoveTo(std::size_t start) {
    if constexpr (Measure::kAdditive) {
      // Both ends of the window move by the same length, so neither ever rereads the text.
      limit_ = SkipCodePoints(text_, limit_, measure_(Slice(start_, start)));
    } else if (start < text_.size()) {
      limit_ = FitFrom(start);
    }
    start_ = start;
  }

  /// Where the next chunk starts: with as many of the pieces before cut as fit into the overlap and
  /// leave room for the piece after it.
  std::size_t OverlapStart(const Delimiter& cut, std::size_t end) {
    if (cut.IsJoiner() && end != cut.end()) {
      return cut.end();
    }
    CollectPieceStarts(cut);
    if (piece_starts_.empty()) {
      return cut.end();
    }
    const std::size_t next_end = NextPieceEnd(cut);
    if (next_end == cut.end()) {
      return cut.end();
    }
    const auto too_early = [&](std::size_t start) {
      return measure_(Slice(start, end)) > overlap_ || measure_(Slice(start, next_end)) > size_;
    };
    const auto found = std::partition_point(piece_starts_.begin(), piece_starts_.end(), too_early);
    return found == piece_starts_.end() ? cut.end() : *found;
  }

  /// The starts of the pieces of the chunk, but for the first, that may be near enough to its end.
  void CollectPieceStarts(const Delimiter& cut) {
    piece_starts_.clear();
    // One byte earlier, so that a piece that starts just where the overlap may is among them.
    const std::size_t reach = measure_.SuffixStart(Slice(start_, cut.begin), overlap_);
    const std::size_t from = reach == 0 ? start_ : start_ + reach - 1;
    if (cut.strength == kCharacterStrength) {
      for (std::size_t at = NextCodePoint(text_, from); at < cut.begin;
           at = NextCodePoint(text_, at)) {
        piece_starts_.push_back(at);
      }
      return;
    }
    DelimiterScanner scanner(text_, reach == 0 ? from : DelimiterScanner::RunStart(text_, from));
    for (; scanner.begin() < cut.begin; scanner.Advance()) {
      if (scanner.strength() == cut.strength && scanner.current().end() > start_) {
        piece_starts_.push_back(scanner.current().end());
      }
    }
  }

  /// The end of the piece after cut, or cut.end() if there is none or it is too long anyway.
  std::size_t NextPieceEnd(const Delimiter& cut) const {
    if (cut.strength == kCharacterStrength) {
      return NextCodePoint(text_, cut.end());
    }
    const std::size_t farthest = FitFrom(cut.begin);
    DelimiterScanner scanner(text_, cut.end());
    while (scanner.strength() < cut.strength && scanner.begin() <= farthest) {
      scanner.Advance();
    }
    return scanner.begin() <= farthest ? scanner.begin() : cut.end();
  }

  std::string_view text_;
  Measure measure_;
  ChunkSink& sink_;
  InterruptCheck pending_;
  std::size_t size_;
  std::size_t overlap_;
  bool strip_;

  std::size_t start_ = 0;            // of the next chunk
  std::size_t limit_ = 0;            // the end of the longest chunk from start_
  Strength context_ = kEndStrength;  // of the delimiter before start_
  DelimiterWindow window_;
  std::vector<std::size_t> piece_starts_;
};

}  // namespace

void SemchunkSplitterOptions::Validate() const {
  ValidateChunkSize(*this);
  ValidateChunkOverlap(*this);
}

SemchunkSplitter::SemchunkSplitter(SemchunkSplitterOptions options) : options_(std::move(options)) {
  options_.Validate();
}

void SemchunkSplitter::Split(std::string_view document, ChunkSink& sink,
                             InterruptCheck pending) const {
  WithMeasure(options_, pending,
              [&](const auto& measure) { Walk(document, options_, measure, sink, pending).Run(); });
}

}  // namespace ai::text
