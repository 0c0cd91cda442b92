// Steps and counts over code points, inline, for pieces of a few bytes where a function call would
// cost more than the work. For whole documents and single characters see utf8.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/utf8.hpp"

namespace ai::text {

inline constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Pieces up to this long are counted inline.
inline constexpr std::size_t kShortPiece = 64;

inline bool IsContinuationByte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The offset of the code point after the one at offset; safe for broken text.
inline std::size_t NextCodePoint(std::string_view text, std::size_t offset) {
  ++offset;
  while (offset < text.size() && IsContinuationByte(text[offset])) {
    ++offset;
  }
  return offset;
}

/// The largest character boundary that is not above offset.
inline std::size_t FloorToCodePoint(std::string_view text, std::size_t offset) {
  while (offset > 0 && offset < text.size() && IsContinuationByte(text[offset])) {
    --offset;
  }
  return offset;
}

/// How many of the eight bytes of a word are continuation bytes.
inline std::size_t CountContinuations(std::uint64_t word) {
  const std::uint64_t marks = (word >> 7) & ~(word >> 6) & 0x0101010101010101ULL;
  return static_cast<std::size_t>((marks * 0x0101010101010101ULL) >> 56);
}

inline std::uint64_t LoadWord(const char* data) {
  std::uint64_t word = 0;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

/// The number of code points in [begin, end) of text. INVARIANT: text is valid UTF-8.
inline std::size_t CodePointLength(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t bytes = end - begin;
  if (bytes > kShortPiece || end < kWord || bytes == 0) {
    return utf8::CountCodePoints(text.substr(begin, bytes));
  }
  std::size_t length = bytes;
  std::size_t left = bytes;
  for (; left > kWord; left -= kWord) {
    length -= CountContinuations(LoadWord(text.data() + end - left));
  }
  // The word that ends where the piece ends, without the bytes before the piece.
  const std::uint64_t last = LoadWord(text.data() + end - kWord);
  const std::size_t excess = 8 * (kWord - left);
  constexpr bool kLittle = std::endian::native == std::endian::little;
  return length - CountContinuations(kLittle ? last >> excess : last << excess);
}

/// The offset that is count code points after offset, or the end of the text.
std::size_t SkipCodePoints(std::string_view text, std::size_t offset, std::size_t count);

/// The offset that is count code points before the end of the text, or its start. May lie inside
/// the code point before that one.
std::size_t BackCodePoints(std::string_view text, std::size_t count);

}  // namespace ai::text
