// What the split patterns of the encodings want to know about a character: letter, number,
// whitespace, and the two overlapping halves of the letters that o200k_base distinguishes.
//
// The classes come from the packed table, not from a library of this machine, because a newer
// Unicode version would silently change token counts. Text that is not UTF-8 is no error here: each
// byte that is not part of a well-formed character counts as U+FFFD, which is a symbol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ai::token {

enum CharClass : std::uint8_t {
  kLetter = 1,       // \p{L}
  kNumber = 2,       // \p{N}
  kSpace = 4,        // \s, which is \p{White_Space}
  kUpperSide = 8,    // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
  kLowerSide = 16,   // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
  kLineBreak = 32,   // [\r\n]
  kMultiByte = 128,  // of a byte, not of a character: decode before asking
};

inline constexpr std::size_t kClassBlockSize = 256;
inline constexpr std::size_t kClassBlocks = 0x110000 / kClassBlockSize;

/// The classes of all code points: `index` names for each block of 256 code points the row of
/// `rows` that describes it. Both live in the packed table. INVARIANT: every index is the number of
/// an existing row, and row 0 describes U+0000 to U+00FF.
struct ClassTable {
  const std::uint16_t* index;
  const std::uint8_t* rows;

  std::uint8_t Of(char32_t code_point) const {
    return rows[index[code_point / kClassBlockSize] * kClassBlockSize +
                code_point % kClassBlockSize];
  }
};

/// A character at some place of a text: its classes and where the next one begins.
struct ClassedChar {
  std::uint8_t classes;
  std::size_t end;
};

class CharClasses {
 public:
  explicit CharClasses(ClassTable table);

  /// The classes of an ASCII byte, kMultiByte for any other.
  std::uint8_t OfByte(char byte) const { return of_byte_[static_cast<unsigned char>(byte)]; }

  ClassedChar At(std::string_view text, std::size_t pos) const {
    const std::uint8_t classes = OfByte(text[pos]);
    return classes == kMultiByte ? AtMultiByte(text, pos) : ClassedChar{classes, pos + 1};
  }

 private:
  ClassedChar AtMultiByte(std::string_view text, std::size_t pos) const;

  ClassTable table_;
  std::array<std::uint8_t, 256> of_byte_;
};

}  // namespace ai::token
