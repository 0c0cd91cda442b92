// Inline flags: (?im) for the whole pattern, (?i-m:...) for a group.
#pragma once

#include <string>

#include "core/text/python_regex_cursor.hpp"

namespace ai::text::python_regex {

struct Flags {
  bool ignore_case = false;
  bool multi_line = false;
  bool dot_all = false;
  bool verbose = false;
  bool ascii = false;
};

enum class FlagScope { kGroup, kPattern };

/// Whether a token after "(?" starts flags.
bool StartsFlags(const Token& token);

/// Reads the flags that start with first, up to the closing parenthesis or the colon, and changes
/// flags accordingly. pattern_flags collects the letters of all flags for the whole pattern.
FlagScope ParseFlags(Cursor& cursor, const Token& first, Flags& flags, std::string& pattern_flags);

}  // namespace ai::text::python_regex
