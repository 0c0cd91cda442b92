#include "core/text/fill.hpp"

#include "core/error.hpp"

namespace ai::text {

std::string Fill(std::string_view text, const ValueOf& value_of) {
  std::string out;
  out.reserve(2 * text.size());
  while (!text.empty()) {
    const std::size_t open = text.find_first_of("{}");
    out += text.substr(0, open);
    if (open == std::string_view::npos) {
      break;
    }
    const std::size_t close = text.find_first_of("{}", open + 1);
    if (text[open] != '{' || close == std::string_view::npos || text[close] != '}') {
      throw Error(ErrorCode::kInternal, "a brace has no partner in a text to be filled in");
    }
    out += value_of(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace ai::text
