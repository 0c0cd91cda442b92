// The places where the semantic splitter may cut, and how strongly each of them parts the text.
//
//   level  what                    parts, strongest first
//   1      line ends               runs of \n and \r, longest first
//   2      tabs                    runs of \t, longest first
//   3      sentence terminators    ". "  "? "  "! "
//   4      clause separators       "; "  ", "  ") "  "] "
//   5      sentence interrupters   ": "  "-- "  "... "
//   6      spaces                  runs of U+0020, longest first
//   7      word joiners            "/"  "\"  "&"  "-"
//   8      characters              between any two code points
//
// In levels 3 to 5 the punctuation belongs to the text before it and only the space is the cut; the
// last dot of "... " does not make a ". ". Spaces after that one are a run of level 6. Other white
// space is ordinary text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ai::text {

/// How strongly a delimiter parts the text; more is stronger. Delimiters of equal strength are cut
/// at together.
using Strength = std::uint64_t;

inline constexpr Strength kCharacterStrength = 0;
inline constexpr Strength kEndStrength = ~Strength{0};

/// What lies between two pieces: the bytes [begin, end()).
struct Delimiter {
  std::size_t begin;
  Strength strength;

  std::size_t end() const;

  /// A joiner is text and stays in a chunk; everything else is white space and disappears.
  bool IsJoiner() const;
};

/// Stands on one delimiter of levels 1 to 7 after the other, and at last on the end of the text.
class DelimiterScanner {
 public:
  /// Starts on the first delimiter from an offset that is not inside a run, see RunStart.
  DelimiterScanner(std::string_view text, std::size_t from) : text_(text), block_(from) {
    Advance();
  }

  void Advance();

  // Member by member, because g++ 12 moves a Delimiter as one vector, from where two moves just put
  // it, and the processor stalls on that: twice the time for the whole splitter.
  std::size_t begin() const { return begin_; }
  Strength strength() const { return strength_; }
  Delimiter current() const { return {begin_, strength_}; }
  bool at_end() const { return strength_ == kEndStrength; }

  /// The start of the run of equal white space that offset lies in, else offset itself.
  static std::size_t RunStart(std::string_view text, std::size_t offset);

 private:
  static constexpr std::size_t kBlock = 64;

  void NextBlock();
  Strength StrengthAt(std::size_t offset) const;
  Strength SpaceStrength(std::size_t offset) const;

  std::string_view text_;
  std::size_t begin_ = 0;
  Strength strength_ = 0;

  // The text is read in blocks. A bit of hits_ is a byte of the block before block_ that may
  // delimit and is still to come; the bits end at the end of that block.
  std::size_t block_;
  std::uint64_t hits_ = 0;
};

}  // namespace ai::text
