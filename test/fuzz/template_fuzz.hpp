// Fuzzes templates: whatever is accepted must mean the same after it is written out again with
// every dollar sign doubled and every name in braces, and only a dollar sign can be a mistake.
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/text/template.hpp"
#include "fuzz/fuzz_input.hpp"

namespace ai::fuzz {

/// Every placeholder is replaced by its name between before and after.
inline std::string RenderNames(const text::Template& parsed, const std::string& before,
                               const std::string& after) {
  std::string value;
  std::string out;
  parsed.Render(
      [&](const std::string& name) -> std::optional<std::string_view> {
        value.assign(before).append(name).append(after);
        return value;
      },
      out);
  return out;
}

/// INVARIANT: the template holds neither \x01 nor \x02.
inline std::string RewriteTemplate(const text::Template& parsed) {
  std::string out;
  bool inside = false;
  for (const char c : RenderNames(parsed, "\x01", "\x02")) {
    if (c == '\x01' || c == '\x02') {
      inside = c == '\x01';
      out += inside ? "${" : "}";
    } else {
      out += c == '$' && !inside ? "$$" : std::string(1, c);
    }
  }
  return out;
}

/// Returns whether the template was accepted.
inline bool FuzzTemplate(std::string_view bytes) {
  static constexpr std::array<std::string_view, 16> kPieces = {
      "$", "$$", "{",  "}",  "${", "a",    "B_1",    "9",
      " ", "-",  "\n", "\r", "é",  "${a}", "$chunk", "\xE2\x80\xA8"};
  const auto require = [](bool condition, const char* what) {
    if (!condition) {
      throw std::logic_error(what);
    }
  };
  FuzzInput input(bytes);
  std::string source;
  while (source.size() < bytes.size()) {
    source += input.Pick(kPieces);
  }
  try {
    const text::Template parsed = text::Template::Parse(source);
    for (const std::string& name : parsed.names()) {
      require(!name.empty() && parsed.Uses(name), "a name that is none");
    }
    const text::Template again = text::Template::Parse(RewriteTemplate(parsed));
    require(again.names() == parsed.names(), "other names");
    require(RenderNames(again, "<", ">") == RenderNames(parsed, "<", ">"), "another text");
    return true;
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kInvalidText, error.what());
    require(source.find('$') != std::string::npos, "refused without a dollar sign");
    return false;
  }
}

}  // namespace ai::fuzz
