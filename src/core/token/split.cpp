// See split.hpp. The expressions, written with X for [^\r\n\p{L}\p{N}], U for kUpperSide, which is
// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L for kLowerSide, [\p{Ll}\p{Lm}\p{Lo}\p{M}], and C for the
// contractions (?i:'s|'t|'re|'ve|'m|'ll|'d); the first alternative that matches wins:
//
//   cl100k_base                              o200k_base
//
//   C                                        X? U* L+ C?
//   X?+ \p{L}++                              X? U+ L* C?
//   \p{N}{1,3}+                              \p{N}{1,3}
//   [ ]?[^\s\p{L}\p{N}]++ [\r\n]*+           [ ]?[^\s\p{L}\p{N}]+ [\r\n/]*
//   \s++$ | \s*[\r\n] | \s+(?!\S) | \s       \s*[\r\n]+ | \s+(?!\S) | \s+
//
// Between two cuts no byte is looked at more than a constant number of times, and no more than one
// run of characters beyond the second cut; that makes splitting linear.
#include "core/token/split.hpp"

#include <algorithm>

namespace ai::token {
namespace {

/// How far a run is followed between two looks at the interrupt.
constexpr std::size_t kInterruptBytes = std::size_t{1} << 20;

constexpr std::uint8_t kNotSymbol = kSpace | kLetter | kNumber;

/// What may stand before the letters of a word: [^\r\n\p{L}\p{N}].
bool IsWordPrefix(std::uint8_t classes) {
  return (classes & (kLineBreak | kLetter | kNumber)) == 0;
}

}  // namespace

std::size_t Splitter::PieceEnd(std::size_t pos) const {
  const ClassedChar first = At(pos);
  std::size_t end = 0;
  if (rule_ == SplitRule::kCl100k) {
    end = ContractionEnd(pos);
    if (end == pos) {
      end = Cl100kWordEnd(pos, first);
    }
  } else {
    end = O200kWordEnd(pos, first);
    if (end != pos) {
      end = ContractionEnd(end);
    }
  }
  if (end != pos) {
    return end;
  }
  if ((first.classes & kNumber) != 0) {
    return NumberEnd(first);
  }
  end = SymbolsEnd(pos, first);
  return end != pos ? end : SpaceEnd(pos);
}

bool Splitter::IsAt(std::size_t pos, std::uint8_t classes) const {
  return pos < text_.size() && (At(pos).classes & classes) != 0;
}

/// The end of the run of characters from pos on that have any of the classes.
std::size_t Splitter::SkipWhile(std::size_t pos, std::uint8_t classes) const {
  while (pos < text_.size()) {
    const std::size_t stop = std::min(text_.size(), pos + kInterruptBytes);
    while (pos < stop) {
      const ClassedChar c = At(pos);
      if ((c.classes & classes) == 0) {
        return pos;
      }
      pos = c.end;
    }
    if (pos < text_.size()) {
      CheckInterrupt(pending_);
    }
  }
  return pos;
}

/// The end of the run of characters from pos on that have none of the classes.
std::size_t Splitter::SkipUntil(std::size_t pos, std::uint8_t classes) const {
  while (pos < text_.size()) {
    const std::size_t stop = std::min(text_.size(), pos + kInterruptBytes);
    while (pos < stop) {
      const ClassedChar c = At(pos);
      if ((c.classes & classes) != 0) {
        return pos;
      }
      pos = c.end;
    }
    if (pos < text_.size()) {
      CheckInterrupt(pending_);
    }
  }
  return pos;
}

Splitter::Run Splitter::ScanRun(std::size_t pos, std::uint8_t classes, std::uint8_t marked) const {
  Run run{pos, pos, 0};
  std::size_t next_check = pos + kInterruptBytes;
  while (run.end < text_.size()) {
    const ClassedChar c = At(run.end);
    if ((c.classes & classes) == 0) {
      break;
    }
    run.last_start = run.end;
    run.end = c.end;
    if ((c.classes & marked) != 0) {
      run.marked_end = c.end;
    }
    if (run.end >= next_check) {
      CheckInterrupt(pending_);
      next_check = run.end + kInterruptBytes;
    }
  }
  return run;
}

/// The end of 's 't 'm 'd 're 've 'll in any case, or pos. Case folding makes U+017F, the long s,
/// equal to s; no other letter here has a relative outside ASCII.
std::size_t Splitter::ContractionEnd(std::size_t pos) const {
  const std::string_view rest = text_.substr(pos, 3);
  if (rest.size() < 2 || rest[0] != '\'') {
    return pos;
  }
  if (rest.substr(1) == "\u017F") {
    return pos + 3;
  }
  const auto lower = [rest](std::size_t i) -> char {
    const char c = rest[i];
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char a = lower(1);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') {
    return pos + 2;
  }
  if (rest.size() < 3) {
    return pos;
  }
  const char b = lower(2);
  const bool pair = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
  return pair ? pos + 3 : pos;
}

std::size_t Splitter::Cl100kWordEnd(std::size_t pos, ClassedChar first) const {
  if ((first.classes & kLetter) != 0) {
    return SkipWhile(first.end, kLetter);
  }
  if (IsWordPrefix(first.classes)) {
    const std::size_t end = SkipWhile(first.end, kLetter);
    return end != first.end ? end : pos;
  }
  return pos;
}

/// The first two alternatives of o200k_base without the contraction. U* L+ is greedy with back-off:
/// U* takes all it can; if no L follows, it gives back down to the last character that is also L.
std::size_t Splitter::O200kWordEnd(std::size_t pos, ClassedChar first) const {
  const bool has_prefix = IsWordPrefix(first.classes);
  if (!has_prefix && (first.classes & kLetter) == 0) {
    return pos;
  }
  const std::size_t letters = has_prefix ? first.end : pos;
  const Run upper = ScanRun(letters, kUpperSide, kLowerSide);
  const std::size_t lower_end = SkipWhile(upper.end, kLowerSide);
  if (lower_end != upper.end) {
    return lower_end;
  }
  if (upper.marked_end != 0) {
    return upper.marked_end;
  }
  if ((first.classes & kLowerSide) != 0) {
    // A combining mark was tried as the prefix of letters that are all upper case. The expression
    // now tries it as a letter and, with no lower case in sight, gives back all but the mark.
    return first.end;
  }
  return upper.end != letters ? upper.end : pos;
}

std::size_t Splitter::NumberEnd(ClassedChar first) const {
  std::size_t end = first.end;
  for (int digits = 1; digits < 3 && IsAt(end, kNumber); ++digits) {
    end = At(end).end;
  }
  return end;
}

/// A run of symbols with the one space before it and the line ends after it; pos if there is none.
std::size_t Splitter::SymbolsEnd(std::size_t pos, ClassedChar first) const {
  const std::size_t symbols = text_[pos] == ' ' ? first.end : pos;
  std::size_t end = SkipUntil(symbols, kNotSymbol);
  if (end == symbols) {
    return pos;
  }
  const bool with_slash = rule_ == SplitRule::kO200k;
  std::size_t next_check = end + kInterruptBytes;
  while (end < text_.size() &&
         (text_[end] == '\n' || text_[end] == '\r' || (with_slash && text_[end] == '/'))) {
    if (++end >= next_check) {
      CheckInterrupt(pending_);
      next_check = end + kInterruptBytes;
    }
  }
  return end;
}

/// A run of whitespace: up to its last line end; else all of it at the end of the text; else all
/// but the last character, which goes with the word that follows. cl100k_base asks for the end of
/// the text before it asks for a line end.
std::size_t Splitter::SpaceEnd(std::size_t pos) const {
  const Run run = ScanRun(pos, kSpace, kLineBreak);
  const bool at_end = run.end == text_.size();
  if (at_end && rule_ == SplitRule::kCl100k) {
    return run.end;
  }
  if (run.marked_end != 0) {
    return run.marked_end;
  }
  return at_end || run.last_start == pos ? run.end : run.last_start;
}

}  // namespace ai::token
