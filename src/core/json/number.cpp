// See number.hpp. The grammar is ours, because that of std::from_chars is another one. Most numbers
// then need a single division that is exact by construction; the others go to std::from_chars.
#include "core/json/number.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <limits>
#include <system_error>

namespace ai::json {
namespace {

constexpr std::array kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kMaxExactInteger = std::uint64_t{1} << 53;
constexpr std::ptrdiff_t kMaxDigits = 19;                 // as many always fit 64 bits
constexpr std::int64_t kExponentCap = 1'000'000'000'000;  // far beyond any double and any text
constexpr std::int64_t kMaxExponent = std::numeric_limits<double>::max_exponent10;

struct Scan {
  const char* begin = nullptr;     // of the number, with its sign
  const char* digits = nullptr;    // behind the sign
  const char* integer = nullptr;   // behind the digits before the decimal point
  const char* fraction = nullptr;  // behind those that follow it, with the point
  const char* end = nullptr;
  std::uint64_t mantissa = 0;  // all digits as an integer, if there are no more than kMaxDigits

  bool negative() const { return digits != begin; }
  std::ptrdiff_t decimals() const { return fraction == integer ? 0 : fraction - integer - 1; }
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

const char* TakeDigits(const char* at, std::uint64_t& mantissa) {
  for (; IsDigit(*at); ++at) {
    mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  return at;
}

/// Of ten, as the text has it.
std::int64_t Exponent(const Scan& scan) {
  if (scan.fraction == scan.end) {
    return 0;
  }
  const char* at = scan.fraction + 1;
  const bool negative = *at == '-';
  std::int64_t exponent = 0;
  for (at += IsDigit(*at) ? 0 : 1; at != scan.end; ++at) {
    exponent = std::min(exponent * 10 + (*at - '0'), kExponentCap);
  }
  return negative ? -exponent : exponent;
}

/// Of a number that std::from_chars finds out of range: whether it is too large, not too small. It
/// is below ten to the power of its exponent and of the place of its first digit that is not zero.
bool IsLarge(const Scan& scan) {
  const char* at = scan.digits;
  while (*at == '0' || *at == '.') {
    ++at;
  }
  const std::int64_t place = at < scan.integer ? scan.integer - at : scan.integer + 1 - at;
  return place + Exponent(scan) > 0;
}

/// False if it is no integer of 64 bits. A zero with a sign is not one: it has to stay -0.0.
bool ToInteger(const Scan& scan, Number& number) {
  if (scan.integer != scan.end || (scan.negative() && *scan.digits == '0')) {
    return false;
  }
  number.is_integer = std::from_chars(scan.begin, scan.end, number.integer).ec == std::errc();
  return number.is_integer;
}

/// True if one correctly rounded operation on two exact doubles gives the result.
bool ToDoubleExactly(const Scan& scan, std::int64_t exponent, double& real) {
  const std::ptrdiff_t count = scan.integer - scan.digits + scan.decimals();
  if (FLT_EVAL_METHOD != 0 || count > kMaxDigits || scan.mantissa > kMaxExactInteger ||
      exponent > 0 || -exponent >= std::ssize(kPowersOfTen)) {
    return false;
  }
  real = static_cast<double>(scan.mantissa) / kPowersOfTen[static_cast<std::size_t>(-exponent)];
  real = scan.negative() ? -real : real;
  return true;
}

/// False if it is too large; what is too small is zero.
bool ToDouble(const Scan& scan, double& real) {
  const std::int64_t exponent = Exponent(scan) - scan.decimals();
  if (ToDoubleExactly(scan, exponent, real)) {
    return true;
  }
  if (std::from_chars(scan.begin, scan.end, real).ec == std::errc::result_out_of_range) {
    real = scan.negative() ? -0.0 : 0.0;
    return !IsLarge(scan);
  }
  // Zeros with an exponent that no double has are refused like other digits.
  return real != 0 || exponent <= kMaxExponent;
}

}  // namespace

ScannedNumber ScanNumber(const char* begin) {
  Scan scan{.begin = begin, .digits = begin + (*begin == '-' ? 1 : 0)};
  const char* at = scan.digits;
  if (!IsDigit(*at)) {
    return {.end = at, .problem = "invalid value"};
  }
  at = scan.integer = *at == '0' ? at + 1 : TakeDigits(at, scan.mantissa);
  if (*at == '.') {
    if (!IsDigit(*++at)) {
      return {.end = at, .problem = "expected a digit after the decimal point"};
    }
    at = TakeDigits(at, scan.mantissa);
  }
  scan.fraction = at;
  if (*at == 'e' || *at == 'E') {
    ++at;
    at += *at == '-' || *at == '+' ? 1 : 0;
    if (!IsDigit(*at)) {
      return {.end = at, .problem = "expected a digit in the exponent"};
    }
    while (IsDigit(*at)) {
      ++at;
    }
  }
  scan.end = at;
  ScannedNumber scanned{.end = at};
  if (!ToInteger(scan, scanned.number) && !ToDouble(scan, scanned.number.real)) {
    return {.end = begin, .problem = "number too large"};
  }
  return scanned;
}

}  // namespace ai::json
