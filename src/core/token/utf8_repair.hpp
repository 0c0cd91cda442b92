// Makes text of bytes that may not be UTF-8.
#pragma once

#include <string>

namespace ai::token {

/// Replaces each maximal ill-formed sequence by U+FFFD: the longest start of a well-formed
/// character that is not completed, or else a single byte. This is "substitution of maximal
/// subparts" in chapter 3 of the Unicode standard, and what Python, browsers and tiktoken's decode
/// do.
std::string RepairUtf8(std::string bytes);

}  // namespace ai::token
