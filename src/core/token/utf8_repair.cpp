#include "core/token/utf8_repair.hpp"

#include <cstddef>
#include <string_view>

#include "core/utf8.hpp"

namespace ai::token {
namespace {

struct ByteRange {
  unsigned char low;
  unsigned char high;
};

/// What may follow a lead byte: table 3-7 of the Unicode standard, which leaves out overlong forms,
/// surrogates and everything above U+10FFFF.
ByteRange SecondByteOf(unsigned char lead) {
  switch (lead) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

/// The length of the maximal subpart at the start of bytes. INVARIANT: bytes is not empty and does
/// not start with a well-formed character.
std::size_t IllFormedLength(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0xC2 || lead > 0xF4) {
    return 1;
  }
  const std::size_t needed = lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4);
  ByteRange expected = SecondByteOf(lead);
  std::size_t length = 1;
  while (length < needed && length < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[length]);
    if (byte < expected.low || byte > expected.high) {
      break;
    }
    expected = {0x80, 0xBF};
    ++length;
  }
  return length;
}

}  // namespace

std::string RepairUtf8(std::string bytes) {
  std::size_t valid = utf8::ValidPrefix(bytes);
  if (valid == bytes.size()) {
    return bytes;
  }
  std::string text;
  text.reserve(bytes.size() + 2);
  for (std::string_view rest = bytes; !rest.empty(); valid = utf8::ValidPrefix(rest)) {
    text += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (!rest.empty()) {
      text += "\uFFFD";
      rest.remove_prefix(IllFormedLength(rest));
    }
  }
  return text;
}

}  // namespace ai::token
