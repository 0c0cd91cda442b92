// See string.hpp.
#include "core/json/string.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <optional>

#include "core/utf8.hpp"

namespace ai::json {
namespace {

constexpr const char* kNoEnd = "string without an end";
constexpr const char* kBadEscape = "invalid escape or control character in a string";
constexpr const char* kBadHex = "expected four hexadecimal digits after \"\\u\"";
constexpr const char* kHalfPair = "half of a surrogate pair in a string";
constexpr std::ptrdiff_t kUnicodeEscape = 6;  // the length of \u0041

bool IsSpecial(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

/// The first quote, backslash or control character, or the end.
const char* FindSpecial(const char* at, const char* end) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  for (; end - at >= 16; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block);
    const __m128i special = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) {
      return at + std::countr_zero(mask);
    }
  }
#endif
  while (at != end && !IsSpecial(*at)) {
    ++at;
  }
  return at;
}

/// What the letter behind a backslash stands for; nothing if there is no such escape.
std::optional<char> Unescape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

/// The value of the escape \uXXXX that starts at the backslash; nothing if there is none.
std::optional<char32_t> ReadUnit(const char* backslash, const char* end) {
  if (end - backslash < kUnicodeEscape || backslash[0] != '\\' || backslash[1] != 'u') {
    return std::nullopt;
  }
  char32_t unit = 0;
  for (const char* at = backslash + 2; at != backslash + kUnicodeEscape; ++at) {
    const char lower = static_cast<char>(*at | 0x20);
    if (*at >= '0' && *at <= '9') {
      unit = unit * 16 + static_cast<char32_t>(*at - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      unit = unit * 16 + static_cast<char32_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return unit;
}

bool IsHighSurrogate(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool IsLowSurrogate(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// Takes one \uXXXX or a pair of them; moves at behind it. Returns the problem, null if none.
const char* TakeUnicode(const char*& at, const char* end, std::string& buffer) {
  const std::optional<char32_t> first = ReadUnit(at, end);
  if (!first.has_value()) {
    return kBadHex;
  }
  if (IsLowSurrogate(*first)) {
    return kHalfPair;
  }
  if (!IsHighSurrogate(*first)) {
    utf8::Append(buffer, *first);
    at += kUnicodeEscape;
    return nullptr;
  }
  const std::optional<char32_t> second = ReadUnit(at + kUnicodeEscape, end);
  if (!second.has_value() || !IsLowSurrogate(*second)) {
    return kHalfPair;
  }
  utf8::Append(buffer, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
  at += 2 * kUnicodeEscape;
  return nullptr;
}

/// Takes the escape at the backslash; moves at behind it. Returns the problem, null if none.
const char* TakeEscape(const char*& at, const char* end, std::string& buffer) {
  if (end - at < 2) {
    return kBadEscape;
  }
  if (at[1] == 'u') {
    return TakeUnicode(at, end, buffer);
  }
  const std::optional<char> character = Unescape(at[1]);
  if (!character.has_value()) {
    return kBadEscape;
  }
  buffer.push_back(*character);
  at += 2;
  return nullptr;
}

}  // namespace

ScannedString ScanString(const char* begin, const char* end, std::string& buffer) {
  const char* start = begin + 1;
  const char* at = FindSpecial(start, end);
  if (at != end && *at == '"') {
    return {.value = {start, at}, .end = at + 1};
  }
  buffer.clear();
  while (at != end && *at == '\\') {
    buffer.append(start, at);
    if (const char* problem = TakeEscape(at, end, buffer); problem != nullptr) {
      return {.end = at, .problem = problem};
    }
    start = at;
    at = FindSpecial(start, end);
  }
  if (at == end || *at != '"') {
    return {.end = at, .problem = at == end ? kNoEnd : kBadEscape};
  }
  buffer.append(start, at);
  return {.value = buffer, .end = at + 1};
}

}  // namespace ai::json
