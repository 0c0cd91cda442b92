// Reads what a packed table is made from: the rank files of tiktoken and a list of Unicode ranges.
// Used when tables are made, never in a server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ai::token {

/// The bytes of every token, by rank. The text has a line for each: the bytes in base64, a space,
/// the rank. Throws Error(kInvalidText) unless the ranks are 0, 1, 2 and so on, in any order, each
/// once.
std::vector<std::string> ParseRanks(std::string_view text);

/// The classes (CharClass) of every code point. The text has lines "Lu 41 5a": a name, the first
/// and the last code point of a range in hexadecimal. Names are Lu, Lt, Ll, Lm, Lo, M, N and
/// White_Space. Throws Error(kInvalidText) at anything else.
std::vector<std::uint8_t> ParseClassRanges(std::string_view text);

}  // namespace ai::token
