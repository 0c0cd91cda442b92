// See separator.hpp.
#include "core/text/separator.hpp"

#include <string_view>
#include <utility>

namespace ai::text {
namespace {

/// Whether a pattern in Python's syntax can only match itself.
bool IsPlainText(std::string_view pattern) {
  return pattern.find_first_of(".^$*+?{}[]\\|()") == std::string_view::npos;
}

}  // namespace

Separator::Separator(std::string text, bool is_regex) : text_(std::move(text)) {
  if (is_regex && !IsPlainText(text_)) {
    pattern_ = Pattern::Compile(text_);
  }
}

}  // namespace ai::text
