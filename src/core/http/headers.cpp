// See headers.hpp.
#include "core/http/headers.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/http/ascii.hpp"

namespace ai::http {
namespace {

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

bool IsTokenCharacter(char c) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z');
  return alphanumeric ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool IsName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsTokenCharacter);
}

bool IsValue(std::string_view value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

}  // namespace

Headers::Headers(std::initializer_list<Header> fields) {
  fields_.reserve(fields.size());
  for (const Header& field : fields) {
    Add(field.name, field.value);
  }
}

void Headers::Add(std::string_view name, std::string_view value) {
  if (!IsName(name)) {
    throw Error(ErrorCode::kInvalidParameter, "invalid name of an HTTP header",
                "A name consists of letters, digits and a few punctuation characters.");
  }
  if (!IsValue(value)) {
    // The value is not shown: it may be a key.
    throw Error(ErrorCode::kInvalidParameter,
                "invalid value of HTTP header \"" + std::string(name) + "\"",
                "A value must not contain a line break or a zero byte.");
  }
  fields_.push_back({std::string(name), std::string(value)});
}

bool Headers::AddReceived(std::string_view name, std::string_view value) {
  if (!IsName(name) || !IsValue(value)) {
    return false;
  }
  fields_.push_back({std::string(name), std::string(value)});
  return true;
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  for (const Header& field : fields_) {
    if (SameName(field.name, name)) {
      return field.value;
    }
  }
  return std::nullopt;
}

}  // namespace ai::http
