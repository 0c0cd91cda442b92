// Tests of core/json/number: against strtod, bit by bit.
#include "core/json/number.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "unit/catch_bridge.hpp"

using ai::json::ScanNumber;
using std::string_literals::operator""s;

namespace {

constexpr std::string_view kTooLarge = "number too large";

/// INVARIANT: the text is that of a string or a literal, so that it has an end.
ai::json::ScannedNumber Scan(std::string_view text) {
  return ScanNumber(text.data());
}

double Real(std::string_view text) {
  const auto scanned = Scan(text);
  REQUIRE(scanned.problem == nullptr);
  REQUIRE(scanned.end == text.data() + text.size());
  REQUIRE_FALSE(scanned.number.is_integer);
  return scanned.number.real;
}

bool SameAsStrtod(const std::string& text) {
  const auto scanned = Scan(text);
  const double expected = std::strtod(text.c_str(), nullptr);
  const double found =
      scanned.number.is_integer ? static_cast<double>(scanned.number.integer) : scanned.number.real;
  return scanned.problem == nullptr && scanned.end == text.data() + text.size() &&
         std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected);
}

}  // namespace

TEST_CASE("integers of 64 bits stay integers", "[json][number]") {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"0", 0},
      {"7", 7},
      {"-1", -1},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"1234567890123456789", 1234567890123456789},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    const auto scanned = Scan(text);
    CHECK(scanned.problem == nullptr);
    CHECK(scanned.number.is_integer);
    CHECK(scanned.number.integer == expected);
  }
}

TEST_CASE("what is no integer of 64 bits becomes a double", "[json][number]") {
  REQUIRE(Real("9223372036854775808") == 9223372036854775808.0);
  REQUIRE(Real("-9223372036854775809") == -9223372036854775808.0);
  REQUIRE(Real("18446744073709551616") == 18446744073709551616.0);
  REQUIRE(Real("123456789012345678901234567890") == 123456789012345678901234567890.0);
  REQUIRE(Real("1.0") == 1.0);
  REQUIRE(Real("1e3") == 1000.0);
  REQUIRE(Real("-0") == 0.0);
  REQUIRE(std::signbit(Real("-0")));
  REQUIRE(std::signbit(Real("-0.0")));
}

TEST_CASE("what is not a number by JSON's grammar is refused", "[json][number]") {
  for (const char* text : {"", "-", "+1", ".5", "1.", "-.5", "1.e5", "1e", "1e+", "1E-", "e5",
                           "NaN", "inf", "-inf", "Infinity", "x", "- 1", "\xEF\xBC\x91"}) {
    INFO(text);
    CHECK(Scan(text).problem != nullptr);
    CHECK(Scan(text).problem != kTooLarge);
  }
}

TEST_CASE("a number ends where its grammar ends", "[json][number]") {
  const std::pair<std::string_view, std::size_t> cases[] = {
      {"01", 1}, {"-00", 2}, {"1,2", 1}, {"1.5]", 3}, {"1e5e5", 3}, {"0x10", 1}, {"1.2.3", 3}};
  for (const auto& [text, length] : cases) {
    INFO(text);
    CHECK(Scan(text).end - text.data() == static_cast<std::ptrdiff_t>(length));
  }
}

TEST_CASE("too large is refused, too small is zero", "[json][number]") {
  const std::string zeros(400, '0');
  const std::string more_zeros(1000, '0');
  for (const std::string& text :
       {"1" + more_zeros + "e-500", "1e309"s, "-1e309"s, "1.7976931348623159e308"s,
        "1e999999999999999999999"s, "0e309"s, "0.000e312"s, "1" + zeros, "0." + zeros + "1e800",
        "123456789012345678901234567890e300"s}) {
    INFO(text);
    CHECK(Scan(text).problem == kTooLarge);
  }
  REQUIRE(Real("1e-400") == 0);
  REQUIRE(std::signbit(Real("-1e-400")));
  REQUIRE(Real("0e308") == 0);
  REQUIRE(Real("0.000e311") == 0);
  REQUIRE(Real("0.0e-99999999999999999999") == 0);
  REQUIRE(Real("0." + zeros + "1") == 0);
  REQUIRE(Real("0." + zeros + "1e401") == 1.0);
  REQUIRE(Real("1" + zeros + "e-400") == 1.0);
  REQUIRE(Real("1.7976931348623157e308") == 1.7976931348623157e308);
  REQUIRE(Real("4.9406564584124654e-324") == 4.9406564584124654e-324);
}

TEST_CASE("hard cases of rounding agree with strtod", "[json][number]") {
  for (const std::string text :
       {"2.2250738585072011e-308", "2.2250738585072014e-308", "9007199254740993.0",
        "9007199254740992.5", "0.1", "0.30000000000000004", "5e-324", "2.4703282292062328e-324",
        "8.5e15", "123456789012345680000.0", "1e22", "1e23", "-1.7976931348623157e308",
        "6.02214076e23", "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126"}) {
    INFO(text);
    CHECK(SameAsStrtod(text));
  }
}

TEST_CASE("random numbers agree with strtod", "[json][number]") {
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): a test must repeat
  std::string wrong;
  char buffer[64];
  for (int i = 0; i < 60000; ++i) {
    const double any = std::bit_cast<double>(random());
    const double small = (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) / 10;
    const int precision = static_cast<int>(random() % 20);
    for (const double value : {any, small}) {
      if (std::isfinite(value)) {
        std::snprintf(buffer, sizeof(buffer), random() % 2 == 0 ? "%.*g" : "%.*e", precision,
                      value);
        if (std::strtod(buffer, nullptr) * 0 == 0 && !SameAsStrtod(buffer)) {
          wrong.append(buffer).append(" ");
        }
      }
    }
  }
  REQUIRE(wrong.empty());
}
