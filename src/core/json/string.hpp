// Strings of JSON texts. Private to src/core/json. A string without an escape is not copied: what
// comes back is a view of the text itself, found sixteen bytes at a time.
#pragma once

#include <string>
#include <string_view>

namespace ai::json {

struct ScannedString {
  std::string_view value = {};    // if there is no problem
  const char* end = nullptr;      // behind the closing quote, or where the problem is
  const char* problem = nullptr;  // what is wrong, null if nothing
};

/// Reads the string whose opening quote is at begin. The value lies in the text, or in buffer if
/// something had to be decoded. INVARIANT: the text up to end is valid UTF-8; so is the value then.
ScannedString ScanString(const char* begin, const char* end, std::string& buffer);

}  // namespace ai::json
