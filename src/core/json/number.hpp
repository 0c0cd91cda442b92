// Numbers of JSON texts, exactly rounded. Private to src/core/json. An integer that fits 64 bits
// stays an integer, everything else becomes a double; what is too large for a double is refused,
// what is too small becomes zero.
#pragma once

#include <cstdint>

namespace ai::json {

struct Number {
  bool is_integer = false;
  std::int64_t integer = 0;  // if is_integer
  double real = 0;           // otherwise
};

enum class NumberOutcome { kOk, kMalformed, kTooLarge };

struct ScannedNumber {
  NumberOutcome outcome;
  Number number;
  const char* end;  // behind the last character of the number, if there is one
};

/// Reads the number that starts at begin, by JSON's grammar: "01", "+1", ".5", "1." and "NaN" are
/// not numbers, but "01" starts with the number "0". What follows the number is not looked at.
ScannedNumber ScanNumber(const char* begin, const char* end);

}  // namespace ai::json
