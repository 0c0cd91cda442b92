// The parser of templates; rendering is in the header.
#include "core/text/template.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace ai::text {
namespace {

bool StartsIdentifier(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool ContinuesIdentifier(char c) {
  return StartsIdentifier(c) || (c >= '0' && c <= '9');
}

// The characters that end a line for Python's str.splitlines().
bool EndsLine(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

[[noreturn]] void RefusePlaceholder(std::string_view text, std::size_t dollar) {
  std::size_t line = 1;
  std::size_t column = 1;
  char32_t previous = 0;
  for (std::size_t at = 0; at < dollar;) {
    const utf8::Decoded decoded = utf8::DecodeAt(text, at);
    const bool second_of_crlf = decoded.code_point == U'\n' && previous == U'\r';
    if (second_of_crlf) {
      column = 1;
    } else if (EndsLine(decoded.code_point)) {
      ++line;
      column = 1;
    } else {
      ++column;
    }
    previous = decoded.code_point;
    at += decoded.length;
  }
  throw Error(ErrorCode::kInvalidText,
              "invalid placeholder in template: line " + std::to_string(line) + ", column " +
                  std::to_string(column),
              "A placeholder is written $name or ${name}.",
              "Write $$ for a dollar sign, and ${name} if the name has other characters than "
              "letters without accents, digits and underscores.");
}

// The placeholder's name, and where the text goes on. INVARIANT: text[dollar] is '$', and the next
// character is not.
std::pair<std::string_view, std::size_t> ParsePlaceholder(std::string_view text,
                                                          std::size_t dollar) {
  const std::size_t start = dollar + 1;
  if (start < text.size() && text[start] == '{') {
    const std::size_t close = text.find('}', start);
    if (close == std::string_view::npos || close == start + 1) {
      RefusePlaceholder(text, dollar);
    }
    return {text.substr(start + 1, close - start - 1), close + 1};
  }
  if (start >= text.size() || !StartsIdentifier(text[start])) {
    RefusePlaceholder(text, dollar);
  }
  std::size_t end = start + 1;
  while (end < text.size() && ContinuesIdentifier(text[end])) {
    ++end;
  }
  return {text.substr(start, end - start), end};
}

}  // namespace

Template Template::Parse(std::string_view text) {
  Template result;
  std::string literal;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t dollar = std::min(text.find('$', at), text.size());
    literal += text.substr(at, dollar - at);
    if (dollar == text.size()) {
      break;
    }
    if (text.substr(dollar, 2) == "$$") {
      literal += '$';
      at = dollar + 2;
      continue;
    }
    const auto [name, next] = ParsePlaceholder(text, dollar);
    result.parts_.push_back({std::exchange(literal, {}), result.IndexOf(name)});
    at = next;
  }
  if (!literal.empty()) {
    result.parts_.push_back({std::move(literal), kNoName});
  }
  return result;
}

bool Template::Uses(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

// The index of a name, which is added if it is new.
std::size_t Template::IndexOf(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  const auto index = static_cast<std::size_t>(found - names_.begin());
  if (found == names_.end()) {
    names_.emplace_back(name);
  }
  return index;
}

}  // namespace ai::text
