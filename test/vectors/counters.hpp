// The ways of measuring that oracle vectors name, besides code points. Header only, because fuzz
// targets and unit tests use them too.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/text/length.hpp"
#include "core/utf8.hpp"

namespace ai::vectors {

/// Runs of non-whitespace, as Python's len(text.split()).
class Words final : public text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override {
    std::size_t words = 0;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
      const utf8::Decoded decoded = utf8::DecodeAt(text, at);
      const bool letter = !utf8::IsWhitespace(decoded.code_point);
      words += letter && !inside ? 1 : 0;
      inside = letter;
      at += decoded.length;
    }
    return words;
  }
};

/// Four code points to the token, rounded up.
class QuarterCodePoints final : public text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override {
    return (utf8::CountCodePoints(text) + 3) / 4;
  }
};

/// Spaces plus one.
class SpacedWords final : public text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) + 1;
  }
};

/// The counter of that name; null for code points. Throws Error for a name we do not know.
inline std::shared_ptr<const text::LengthFunction> MakeCounter(std::string_view name) {
  if (name == "chars" || name == "character") {
    return nullptr;
  }
  if (name == "words") {
    return std::make_shared<Words>();
  }
  if (name == "ceil_chars_div_4") {
    return std::make_shared<QuarterCodePoints>();
  }
  if (name == "word") {
    return std::make_shared<SpacedWords>();
  }
  throw Error(ErrorCode::kInvalidParameter, "unknown counter \"" + std::string(name) + "\"");
}

}  // namespace ai::vectors
