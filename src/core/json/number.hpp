// Numbers of JSON texts, correctly rounded. Private to src/core/json. An integer that fits 64 bits
// stays an integer, everything else becomes a double; overflow is refused, underflow becomes zero.
#pragma once

#include <cstdint>

namespace ai::json {

struct Number {
  bool is_integer = false;
  std::int64_t integer = 0;  // if is_integer
  double real = 0;           // otherwise
};

struct ScannedNumber {
  Number number = {};             // if there is no problem
  const char* end = nullptr;      // past its last character, or where the problem is
  const char* problem = nullptr;  // null if there is none
};

/// Reads the number that starts at begin, by JSON's grammar: "01", "+1", ".5", "1." and "NaN" are
/// not numbers, but "01" starts with the number "0". What follows the number is not looked at.
/// INVARIANT: the text ends with a character that no number has.
ScannedNumber ScanNumber(const char* begin);

}  // namespace ai::json
