// Tests of core/utf8: against a slow reference that decodes by the definition, and by hand.
#include "core/utf8.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "unit/catch_bridge.hpp"

namespace utf8 = ai::utf8;
using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

namespace {

constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};  // by length

std::string Encode(char32_t code_point) {
  std::string out;
  utf8::Append(out, code_point);
  return out;
}

/// Decodes by bit pattern first and checks the range of the result after, which the code under test
/// never does. Returns the length of the sequence, 0 if it is not well-formed.
std::size_t ReferenceLength(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  std::size_t length = 0;
  std::uint32_t value = 0;
  if ((lead & 0x80) == 0) {
    return 1;
  }
  if ((lead & 0xE0) == 0xC0) {
    length = 2;
    value = lead & 0x1F;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3;
    value = lead & 0x0F;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4;
    value = lead & 0x07;
  } else {
    return 0;
  }
  if (text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value < kSmallest[length] || value > 0x10FFFF || surrogate ? 0 : length;
}

std::size_t ReferenceValidPrefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = ReferenceLength(text.substr(at));
    if (length == 0) {
      break;
    }
    at += length;
  }
  return at;
}

}  // namespace

TEST_CASE("every scalar value survives Append and DecodeAt", "[utf8]") {
  std::size_t wrong = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) {
      c = 0xE000;
    }
    const std::string text = Encode(c);
    const utf8::Decoded decoded = utf8::DecodeAt(text, 0);
    const bool ok = decoded.code_point == c && decoded.length == text.size() &&
                    utf8::IsValid(text) && utf8::CountCodePoints(text) == 1;
    wrong += ok ? 0 : 1;
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("Append never writes what is not UTF-8", "[utf8]") {
  REQUIRE(Encode(0xD7FF) == "\xED\x9F\xBF");
  REQUIRE(Encode(0xD800) == "\xEF\xBF\xBD");
  REQUIRE(Encode(0xDFFF) == "\xEF\xBF\xBD");
  REQUIRE(Encode(0x10FFFF) == "\xF4\x8F\xBF\xBF");
  REQUIRE(Encode(0x110000) == "\xEF\xBF\xBD");
}

TEST_CASE("validation agrees with the definition on all short sequences", "[utf8]") {
  // The interesting bytes are the edges of every range in the standard's table.
  const std::string edges =
      "\x00\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5"
      "\xFF"s;
  std::size_t wrong = 0;
  std::string text(4, '\0');
  for (const char a : edges) {
    for (const char b : edges) {
      for (const char c : edges) {
        for (const char d : edges) {
          text = {a, b, c, d};
          for (std::size_t size = 1; size <= 4; ++size) {
            const std::string_view part(text.data(), size);
            wrong += utf8::ValidPrefix(part) == ReferenceValidPrefix(part) ? 0 : 1;
          }
        }
      }
    }
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("validation and counting agree with the definition on random text", "[utf8]") {
  std::mt19937 random(20240917);  // NOLINT(cert-msc51-cpp): a test must repeat
  std::size_t wrong = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t target = random() % 400;
    while (text.size() < target) {
      const unsigned kind = random() % 40;
      const char32_t limit =
          kind < 36 ? 0x80 : (kind < 38 ? 0x800 : (kind < 39 ? 0xD800 : 0x110000));
      utf8::Append(text, random() % limit);
    }
    std::size_t expected_count = 0;
    for (std::size_t at = 0; at < text.size(); at += utf8::DecodeAt(text, at).length) {
      ++expected_count;
    }
    wrong += utf8::IsValid(text) && utf8::CountCodePoints(text) == expected_count ? 0 : 1;
    if (!text.empty()) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
      wrong += utf8::ValidPrefix(text) == ReferenceValidPrefix(text) ? 0 : 1;
    }
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("a mistake is found at every distance from a block's edge", "[utf8]") {
  for (std::size_t size = 1; size <= 200; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\xFF';
      if (utf8::ValidPrefix(text) != at) {
        FAIL("size " << size << ", mistake at " << at << ": " << utf8::ValidPrefix(text));
      }
    }
  }
  REQUIRE(utf8::IsValid(""));
  REQUIRE(utf8::CountCodePoints("") == 0);
}

TEST_CASE("decoding broken text ends and yields replacement characters", "[utf8]") {
  const std::string_view text = "a\xE2\x82";
  REQUIRE(utf8::DecodeAt(text, 0).code_point == U'a');
  REQUIRE(utf8::DecodeAt(text, 1).code_point == U'\uFFFD');
  REQUIRE(utf8::DecodeAt(text, 1).length == 1);
  REQUIRE(utf8::DecodeAt(text, 2).code_point == U'\uFFFD');
}

TEST_CASE("whitespace is exactly Python's set", "[utf8]") {
  const std::vector<char32_t> expected = {
      0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
      0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
      0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  std::vector<char32_t> found;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (utf8::IsWhitespace(c)) {
      found.push_back(c);
    }
  }
  REQUIRE(found == expected);
}

TEST_CASE("stripping takes every whitespace from the sides asked for", "[utf8]") {
  for (char32_t c = 0; c < 0x3001; ++c) {
    if (utf8::IsWhitespace(c)) {
      const std::string space = Encode(c) + " " + Encode(c);
      const std::string core = "\u00e9 x \u3042";
      INFO("U+" << std::hex << static_cast<std::uint32_t>(c));
      const std::string left = space + core;
      const std::string right = core + space;
      const std::string both = left + space;
      CHECK(utf8::StripLeft(both) == right);
      CHECK(utf8::StripRight(both) == left);
      CHECK(utf8::Strip(both) == core);
      CHECK(utf8::Strip(space).empty());
    }
  }
  REQUIRE(utf8::Strip("").empty());
  REQUIRE(utf8::Strip("x") == "x");
  // Not whitespace, although other libraries think so: zero width space, BOM, Mongolian separator.
  REQUIRE(utf8::Strip("\u200B\uFEFF\u180E") == "\u200B\uFEFF\u180E");
}

TEST_CASE("stripping leaves broken bytes alone", "[utf8]") {
  REQUIRE(utf8::Strip(" \x80 "sv) == "\x80");
  REQUIRE(utf8::StripRight("a\xE2\x80"sv) == "a\xE2\x80");
  REQUIRE(utf8::StripRight("a \x80"sv) == "a \x80");
  REQUIRE(utf8::StripLeft("\xE2\x80"sv) == "\xE2\x80");
  REQUIRE(utf8::StripRight("\x80\x80\x80\x80\x80"sv).size() == 5);
  // The tail of a longer sequence must not be taken for a whitespace of its own (U+0085 is C2 85).
  REQUIRE(utf8::StripRight("\xF0\x9F\x98\x85"sv).size() == 4);
}

TEST_CASE("clipping ends on a character boundary", "[utf8]") {
  const std::string text = "a\u00e9\u20ac\U0001F600z";  // 1 + 2 + 3 + 4 + 1 bytes
  const std::vector<std::size_t> expected = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t max = 0; max < expected.size(); ++max) {
    INFO("max " << max);
    CHECK(utf8::Clip(text, max).size() == expected[max]);
    CHECK(utf8::IsValid(utf8::Clip(text, max)));
  }
  REQUIRE(utf8::Clip(std::string(100, '\x80'), 50).size() >= 47);
}
