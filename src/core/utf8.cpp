// See utf8.hpp. Plain text is mostly ASCII, so validation and counting process words of eight
// bytes, and single bytes only where there is something else.
#include "core/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace ai::utf8 {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kBlock = 8 * kWord;
constexpr std::uint64_t kHighBits = 0x8080808080808080;
constexpr std::uint64_t kLowBits = 0x0101010101010101;
constexpr char32_t kReplacement = 0xFFFD;

std::uint64_t LoadWord(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, kWord);
  return word;
}

std::uint8_t ByteAt(std::string_view text, std::size_t offset) {
  return static_cast<std::uint8_t>(text[offset]);
}

bool IsContinuation(std::uint8_t byte) {
  return (byte & 0xC0) == 0x80;
}

/// The first offset at or after start that does not begin a run of ASCII words; the bytes from
/// there to the next non-ASCII one, fewer than a word of them, are left to the caller.
std::size_t SkipAscii(std::string_view text, std::size_t start) {
  const char* data = text.data();
  std::size_t at = start;
  for (; text.size() - at >= kBlock; at += kBlock) {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < kBlock; i += kWord) {
      any |= LoadWord(data + at + i);
    }
    if ((any & kHighBits) != 0) {
      break;
    }
  }
  while (text.size() - at >= kWord && (LoadWord(data + at) & kHighBits) == 0) {
    at += kWord;
  }
  return at;
}

/// The length of the well-formed sequence at offset, 0 if there is none. The ranges of the second
/// byte are those of table 3-7 of the Unicode standard: they exclude overlong forms, surrogates and
/// everything above U+10FFFF.
std::size_t SequenceLength(std::string_view text, std::size_t offset) {
  const std::uint8_t lead = ByteAt(text, offset);
  if (lead < 0x80) {
    return 1;
  }
  if (lead < 0xC2 || lead > 0xF4) {
    return 0;
  }
  const std::size_t length = lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4);
  if (text.size() - offset < length) {
    return 0;
  }
  const std::uint8_t low = lead == 0xE0 ? 0xA0 : (lead == 0xF0 ? 0x90 : 0x80);
  const std::uint8_t high = lead == 0xED ? 0x9F : (lead == 0xF4 ? 0x8F : 0xBF);
  const std::uint8_t second = ByteAt(text, offset + 1);
  if (second < low || second > high) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if (!IsContinuation(ByteAt(text, offset + i))) {
      return 0;
    }
  }
  return length;
}

/// The number of continuation bytes in a block of kBlock bytes.
std::size_t CountContinuations(const char* block) {
  std::uint64_t sums = 0;
  for (std::size_t i = 0; i < kBlock; i += kWord) {
    const std::uint64_t word = LoadWord(block + i);
    // Each byte of the sum counts at most 8, so they cannot run into each other, nor can their
    // total of at most 64 overflow the top byte that the multiplication collects them in.
    sums += (word >> 7) & ~(word >> 6) & kLowBits;
  }
  return static_cast<std::size_t>((sums * kLowBits) >> 56);
}

}  // namespace

std::size_t ValidPrefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (ByteAt(text, at) < 0x80) {
      at = SkipAscii(text, at);
      while (at < text.size() && ByteAt(text, at) < 0x80) {
        ++at;
      }
      continue;
    }
    const std::size_t length = SequenceLength(text, at);
    if (length == 0) {
      break;
    }
    at += length;
  }
  return at;
}

bool IsValid(std::string_view text) {
  return ValidPrefix(text) == text.size();
}

std::size_t CountCodePoints(std::string_view text) {
  std::size_t continuations = 0;
  std::size_t at = 0;
  for (; text.size() - at >= kBlock; at += kBlock) {
    continuations += CountContinuations(text.data() + at);
  }
  for (; at < text.size(); ++at) {
    continuations += IsContinuation(ByteAt(text, at)) ? 1 : 0;
  }
  return text.size() - continuations;
}

Decoded DecodeSlowly(std::string_view text, std::size_t offset) {
  const std::uint8_t lead = ByteAt(text, offset);
  const std::size_t length = SequenceLength(text, offset);
  if (length == 0) {
    return {kReplacement, 1};
  }
  if (length == 1) {
    return {lead, 1};
  }
  // A lead byte of a sequence of n bytes carries 7 - n bits, each of the others 6.
  char32_t code_point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code_point = (code_point << 6) | (ByteAt(text, offset + i) & 0x3FU);
  }
  return {code_point, static_cast<std::uint8_t>(length)};
}

void Append(std::string& out, char32_t code_point) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
    code_point = kReplacement;
  }
  const auto tail = [&out, code_point](unsigned shift) {
    out.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3F)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code_point >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | (code_point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool IsWhitespace(char32_t code_point) {
  if (code_point <= 0x20) {
    return (code_point >= 0x09 && code_point <= 0x0D) || code_point >= 0x1C;
  }
  if (code_point < 0x80) {
    return false;
  }
  switch (code_point) {
    case 0x0085:
    case 0x00A0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return code_point >= 0x2000 && code_point <= 0x200A;
  }
}

std::string_view StripLeft(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Decoded decoded = DecodeAt(text, at);
    if (!IsWhitespace(decoded.code_point)) {
      break;
    }
    at += decoded.length;
  }
  return text.substr(at);
}

std::string_view StripRight(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    // No whitespace is longer than three bytes, so looking further back is never needed.
    const std::size_t limit = end > 3 ? end - 3 : 0;
    std::size_t start = end - 1;
    while (start > limit && IsContinuation(ByteAt(text, start))) {
      --start;
    }
    const Decoded decoded = DecodeAt(text.substr(0, end), start);
    if (start + decoded.length != end || !IsWhitespace(decoded.code_point)) {
      break;
    }
    end = start;
  }
  return text.substr(0, end);
}

std::string_view Strip(std::string_view text) {
  return StripRight(StripLeft(text));
}

std::string_view Clip(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return text;
  }
  // A character has at most three continuation bytes; more of them is not UTF-8 and cut anywhere.
  const std::size_t limit = max_bytes - std::min<std::size_t>(max_bytes, 3);
  std::size_t end = max_bytes;
  while (end > limit && IsContinuation(ByteAt(text, end))) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace ai::utf8
