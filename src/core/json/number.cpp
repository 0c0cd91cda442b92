// See number.hpp. One pass collects the digits; most numbers then need a single multiplication or
// division that is exact by construction. The others go to std::from_chars.
#include "core/json/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cstring>
#include <limits>

namespace ai::json {
namespace {

constexpr std::array kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMaxExactPower = 22;  // 10^22 is the largest power of ten that a double holds exactly
constexpr std::uint64_t kMaxExactInteger = std::uint64_t{1} << 53;
constexpr std::uint64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
constexpr int kMaxDigits = 19;                        // as many decimal digits always fit 64 bits
constexpr std::int64_t kExponentCap = 1'000'000'000;  // far beyond any double, far from overflow

struct Digits {
  std::uint64_t mantissa = 0;  // the first kMaxDigits significant digits
  int significant = 0;         // how many digits that are, without leading zeros
  bool truncated = false;      // there were more
  std::int64_t exponent = 0;   // of ten, to be applied to the mantissa
  bool negative = false;
  bool integral = true;  // neither fraction nor exponent
  const char* end = nullptr;
};

bool IsDigit(const char* at, const char* end) {
  return at != end && *at >= '0' && *at <= '9';
}

/// Passes over digits that the mantissa has no room for.
const char* SkipDigits(const char* at, const char* end, int place, Digits& digits) {
  digits.truncated = true;
  for (; IsDigit(at, end); ++at) {
    digits.exponent += place + 1;
  }
  return at;
}

constexpr int kWord = sizeof(std::uint64_t);

/// Eight characters, the first in the lowest byte. INVARIANT: there are as many.
std::uint64_t LoadWord(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    word = __builtin_bswap64(word);
  }
  return word;
}

/// Each byte is '0' to '9': its high half is 3, and still is when 6 is added.
bool IsEightDigits(std::uint64_t word) {
  constexpr std::uint64_t kHighHalves = 0xF0F0F0F0F0F0F0F0;
  constexpr std::uint64_t kThrees = 0x3030303030303030;
  return ((word & kHighHalves) == kThrees) &&
         (((word + 0x0606060606060606) & kHighHalves) == kThrees);
}

/// The number that eight digits are: neighbours are joined to twos, those to fours, those to eight.
std::uint64_t EightDigits(std::uint64_t word) {
  word -= 0x3030303030303030;
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  return (word * 10000 + (word >> 32)) & 0x00000000FFFFFFFF;
}

/// Takes a run of digits into the mantissa. place is the change of the exponent for each digit that
/// the mantissa has room for: 0 before the decimal point, -1 behind it.
const char* TakeDigits(const char* at, const char* end, int place, Digits& digits) {
  // In registers: text and digits might be the same memory, for all that the compiler knows.
  std::uint64_t mantissa = digits.mantissa;
  int significant = digits.significant;
  const char* const start = at;
  while (mantissa == 0 && at != end && *at == '0') {
    ++at;
  }
  while (significant <= kMaxDigits - kWord && end - at >= kWord && IsEightDigits(LoadWord(at))) {
    mantissa = mantissa * 100'000'000 + EightDigits(LoadWord(at));
    significant += kWord;
    at += kWord;
  }
  for (; significant < kMaxDigits && IsDigit(at, end); ++at, ++significant) {
    mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  digits.mantissa = mantissa;
  digits.significant = significant;
  digits.exponent += place * (at - start);
  return IsDigit(at, end) ? SkipDigits(at, end, place, digits) : at;
}

const char* TakeExponent(const char* at, const char* end, Digits& digits) {
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) {
    ++at;
  }
  if (!IsDigit(at, end)) {
    return nullptr;
  }
  std::int64_t exponent = 0;
  for (; IsDigit(at, end); ++at) {
    exponent = std::min(exponent * 10 + (*at - '0'), kExponentCap);
  }
  digits.exponent += negative ? -exponent : exponent;
  return at;
}

/// False if no number starts here.
bool TakeNumber(const char* at, const char* end, Digits& digits) {
  digits.negative = at != end && *at == '-';
  at += digits.negative ? 1 : 0;
  if (!IsDigit(at, end)) {
    return false;
  }
  at = *at == '0' ? at + 1 : TakeDigits(at, end, 0, digits);
  if (at != end && *at == '.') {
    digits.integral = false;
    if (!IsDigit(++at, end)) {
      return false;
    }
    at = TakeDigits(at, end, -1, digits);
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    digits.integral = false;
    at = TakeExponent(at + 1, end, digits);
  }
  digits.end = at;
  return at != nullptr;
}

/// False if the digits are no integer of 64 bits. A zero with a sign is not one: it has to stay
/// -0.0.
bool ToInteger(const Digits& digits, std::int64_t& out) {
  if (!digits.integral || digits.truncated) {
    return false;
  }
  if (!digits.negative) {
    out = static_cast<std::int64_t>(digits.mantissa);
    return digits.mantissa <= kMaxInt64;
  }
  out = static_cast<std::int64_t>(~digits.mantissa + 1);
  return digits.mantissa != 0 && digits.mantissa <= kMaxInt64 + 1;
}

/// True if one correctly rounded operation on two exact doubles gives the result.
bool ToDoubleExactly(const Digits& digits, double& out) {
  if (FLT_EVAL_METHOD != 0 || digits.truncated || digits.mantissa > kMaxExactInteger ||
      digits.exponent < -kMaxExactPower || digits.exponent > kMaxExactPower) {
    return false;
  }
  const auto mantissa = static_cast<double>(digits.mantissa);
  const double magnitude = digits.exponent < 0
                               ? mantissa / kPowersOfTen[static_cast<std::size_t>(-digits.exponent)]
                               : mantissa * kPowersOfTen[static_cast<std::size_t>(digits.exponent)];
  out = digits.negative ? -magnitude : magnitude;
  return true;
}

}  // namespace

ScannedNumber ScanNumber(const char* begin, const char* end) {
  Digits digits;
  if (!TakeNumber(begin, end, digits)) {
    return {NumberOutcome::kMalformed, {}, begin};
  }
  if (digits.mantissa == 0 && digits.exponent > std::numeric_limits<double>::max_exponent10) {
    return {NumberOutcome::kTooLarge, {}, digits.end};
  }
  Number number;
  number.is_integer = ToInteger(digits, number.integer);
  if (number.is_integer || ToDoubleExactly(digits, number.real)) {
    return {NumberOutcome::kOk, number, digits.end};
  }
  const auto [ptr, error] = std::from_chars(begin, digits.end, number.real);
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say at which end. The value is below 10^(significant + exponent).
    const bool too_large = digits.significant + digits.exponent > 0;
    number.real = digits.negative ? -0.0 : 0.0;
    return {too_large ? NumberOutcome::kTooLarge : NumberOutcome::kOk, number, digits.end};
  }
  return {NumberOutcome::kOk, number, digits.end};
}

}  // namespace ai::json
