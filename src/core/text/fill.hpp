// A text with names in braces, each replaced by what it stands for: the statements of workers are
// written so, since tables and columns have other names for each vectorizer. Braces mean nothing
// else, and there is no way to write one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ai::text {

/// What stands for a name. Throws if it means nothing.
using ValueOf = std::function<std::string(std::string_view name)>;

/// What a value holds is never looked at. Throws Error(kInternal) if a brace has no partner.
std::string Fill(std::string_view text, const ValueOf& value_of);

}  // namespace ai::text
