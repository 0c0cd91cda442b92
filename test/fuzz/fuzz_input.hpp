// Turns the bytes that a fuzzer invents into choices and into text that is worth splitting. Running
// out of bytes is fine: everything that follows is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/utf8.hpp"

namespace ai::fuzz {

class FuzzInput {
 public:
  explicit FuzzInput(std::string_view bytes) : bytes_(bytes) {}

  /// A number below bound, which is at most 256.
  unsigned Below(unsigned bound) {
    if (bytes_.empty()) {
      return 0;
    }
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte % bound;
  }

  bool Flag() { return Below(2) == 1; }

  /// One of the values of an array.
  template <typename T, std::size_t kSize>
  const T& Pick(const std::array<T, kSize>& values) {
    return values[Below(kSize)];
  }

  /// What is left, as valid UTF-8: a symbol for each byte, from a small alphabet with everything
  /// that a splitter looks at, so that its cases meet; or any code points at all.
  std::string Text() {
    const unsigned style = Below(4);
    std::string text;
    while (!bytes_.empty()) {
      if (style == 3) {
        utf8::Append(text, static_cast<char32_t>(Below(256) << 8 | Below(256)));
      } else {
        text += style == 0 ? Pick(kProse) : (style == 1 ? Pick(kBlanks) : Pick(kAll));
      }
    }
    return text;
  }

 private:
  static constexpr std::array<std::string_view, 12> kProse = {
      "a", "bc", "def", " ", " ", " ", ". ", ", ", "\n", "\n\n", "\xC3\xA9", "g-h"};
  static constexpr std::array<std::string_view, 10> kBlanks = {
      " ", "  ", "\n", "\r", "\r\n", "\t", "a", "b", "\xC2\xA0", "\xE2\x80\x83"};
  static constexpr std::array<std::string_view, 28> kAll = {"a",
                                                            "b",
                                                            "xyz",
                                                            " ",
                                                            "  ",
                                                            ".",
                                                            ". ",
                                                            "... ",
                                                            "?",
                                                            "! ",
                                                            "; ",
                                                            ", ",
                                                            ") ",
                                                            "] ",
                                                            ": ",
                                                            "-- ",
                                                            "-",
                                                            "/",
                                                            "\\",
                                                            "&",
                                                            "\n",
                                                            "\r\n",
                                                            "\t",
                                                            "\n\n",
                                                            "\x1F",
                                                            "\xE3\x80\x82",
                                                            "\xF0\x9F\x9A\x80",
                                                            "\xCC\x81"};

  std::string_view bytes_;
};

}  // namespace ai::fuzz
