// UTF-8 as the rest of the core needs it: validation, counting, decoding, whitespace, clipping.
//
// Whitespace is the set of 29 code points that Python's str.strip() and str.isspace() know; C's
// isspace, ICU and PCRE2 all have other sets. Nothing here normalises or knows grapheme clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ai::utf8 {

struct Decoded {
  char32_t code_point;
  std::uint8_t length;  // in bytes, 1 to 4
};

/// True if text is well-formed: no overlong form, no surrogate, nothing above U+10FFFF.
bool IsValid(std::string_view text);

/// The length in bytes of the longest well-formed prefix: the offset of the first error, if any.
std::size_t ValidPrefix(std::string_view text);

/// The number of code points. INVARIANT: text is valid UTF-8.
std::size_t CountCodePoints(std::string_view text);

/// The code point that starts at offset. INVARIANT: offset is inside text. Where no well-formed
/// sequence starts, the result is U+FFFD of length 1, so that iteration always terminates. Inline
/// for ASCII.
Decoded DecodeSlowly(std::string_view text, std::size_t offset);
inline Decoded DecodeAt(std::string_view text, std::size_t offset) {
  const auto lead = static_cast<unsigned char>(text[offset]);
  return lead < 0x80 ? Decoded{lead, 1} : DecodeSlowly(text, offset);
}

/// Appends the encoding of code_point; what is not a Unicode scalar value becomes U+FFFD.
void Append(std::string& out, char32_t code_point);

bool IsWhitespace(char32_t code_point);

/// The view without whitespace at the start, at the end, at both. Broken bytes are not whitespace.
std::string_view StripLeft(std::string_view text);
std::string_view StripRight(std::string_view text);
std::string_view Strip(std::string_view text);

/// The longest prefix of at most max_bytes that ends on a character boundary.
std::string_view Clip(std::string_view text, std::size_t max_bytes);

}  // namespace ai::utf8
