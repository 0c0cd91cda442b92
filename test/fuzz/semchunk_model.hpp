// The semantic splitter again, as plainly as possible: a piece that is too long is cut at its
// strongest delimiters, the parts are merged while they fit, and parts too long are cut in the same
// way, by recursion. Slow, and only good to compare with.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/semchunk_splitter.hpp"
#include "core/utf8.hpp"
#include "fuzz/merge_model.hpp"
#include "fuzz/semchunk_cuts_model.hpp"

namespace ai::fuzz {

class SemchunkModel {
 public:
  SemchunkModel(std::string_view text, const text::SemchunkSplitterOptions& options)
      : text_(text),
        options_(options),
        size_(static_cast<std::size_t>(options.chunk_size)),
        overlap_(std::min(static_cast<std::size_t>(options.chunk_overlap), size_ - 1)) {}

  Strings Run() {
    if (!text_.empty()) {
      Split({0, text_.size()});
    }
    Strings out;
    for (const text::Span chunk : chunks_) {
      const std::string_view whole = text_.substr(chunk.begin, chunk.end - chunk.begin);
      const std::string_view stripped = utf8::Strip(whole);
      if (!stripped.empty()) {
        out.emplace_back(options_.strip_whitespace ? stripped : whole);
      }
    }
    return out;
  }

 private:
  bool Fits(std::size_t begin, std::size_t end, std::size_t limit) const {
    return Length(options_, text_.substr(begin, end - begin)) <= limit;
  }

  std::vector<text::Span> Pieces(text::Span part, const SemchunkCuts& cuts) const {
    std::vector<text::Span> pieces;
    std::size_t start = part.begin;
    for (const text::Span gap : cuts.gaps) {
      pieces.push_back({start, part.begin + gap.begin});
      start = part.begin + gap.end;
    }
    pieces.push_back({start, part.end});
    return pieces;
  }

  void Split(text::Span part) {
    const SemchunkCuts cuts = StrongestCuts(text_.substr(part.begin, part.end - part.begin));
    const std::vector<text::Span> pieces = Pieces(part, cuts);
    for (std::size_t i = 0; i < pieces.size();) {
      std::size_t last = i;
      bool merged = true;
      if (Fits(pieces[i].begin, pieces[i].end, size_) || cuts.characters) {
        while (last + 1 < pieces.size() && Fits(pieces[i].begin, pieces[last + 1].end, size_)) {
          ++last;
        }
        chunks_.push_back({pieces[i].begin, pieces[last].end});
      } else {
        merged = false;
        Split(pieces[i]);
      }
      if (cuts.joiner && last + 1 < pieces.size() && !AddJoiner(pieces[last + 1].begin)) {
        merged = false;
      }
      i = merged ? NextPiece(pieces, i, last) : last + 1;
    }
  }

  /// Puts the joiner before end into the last chunk if it fits, else into one of its own.
  bool AddJoiner(std::size_t end) {
    if (Fits(chunks_.back().begin, end, size_)) {
      chunks_.back().end = end;
      return true;
    }
    chunks_.push_back({end - 1, end});
    return false;
  }

  /// The first piece of the next chunk, with overlap.
  std::size_t NextPiece(const std::vector<text::Span>& pieces, std::size_t first,
                        std::size_t last) const {
    const std::size_t next = last + 1;
    if (next >= pieces.size() || pieces[next].begin == pieces[next].end) {
      return next;
    }
    for (std::size_t i = first + 1; i <= last && overlap_ > 0; ++i) {
      if (Fits(pieces[i].begin, chunks_.back().end, overlap_) &&
          Fits(pieces[i].begin, pieces[next].end, size_)) {
        return i;
      }
    }
    return next;
  }

  std::string_view text_;
  const text::SemchunkSplitterOptions& options_;
  std::size_t size_;
  std::size_t overlap_;
  std::vector<text::Span> chunks_;
};

}  // namespace ai::fuzz
