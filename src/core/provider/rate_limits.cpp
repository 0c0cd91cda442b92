// See rate_limits.hpp.
#include "core/provider/rate_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/provider/ascii.hpp"

namespace ai::provider {
namespace {

using std::chrono::milliseconds;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

/// All of text as a number without sign.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || !IsDigit(text.front()) ||
      std::from_chars(text.data(), end, value) != std::from_chars_result{end, std::errc()}) {
    return std::nullopt;
  }
  return value;
}

milliseconds FromSeconds(double seconds) {
  const double clipped = std::min(seconds * 1000, static_cast<double>(kMaxRetryAfter.count()));
  return milliseconds(static_cast<std::int64_t>(std::ceil(clipped)));
}

/// How many seconds a unit has; 0 if there is no such unit.
double SecondsOf(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {{
      {"h", 3600},
      {"m", 60},
      {"s", 1},
      {"ms", 1e-3},
      {"us", 1e-6},
      {"\u00b5s", 1e-6},
      {"ns", 1e-9},
  }};
  for (const auto& [name, seconds] : kUnits) {
    if (name == unit) {
      return seconds;
    }
  }
  return 0;
}

std::size_t LengthOfNumber(std::string_view text) {
  const auto end =
      std::find_if_not(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; });
  return static_cast<std::size_t>(end - text.begin());
}

/// The value of a header, trimmed; empty if there is none.
std::string_view ValueOf(const http::Headers& headers, std::string_view name) {
  return Trim(headers.Find(name).value_or(std::string_view()));
}

std::optional<milliseconds> FromDate(std::string_view text, WallTime now) {
  const std::optional<WallTime> date = ParseHttpDate(text);
  if (!date.has_value()) {
    return std::nullopt;
  }
  // By way of seconds, because the difference of two far dates overflows a smaller unit.
  const auto wait = std::chrono::time_point_cast<std::chrono::seconds>(*date) -
                    std::chrono::time_point_cast<std::chrono::seconds>(now);
  return std::clamp<milliseconds>(wait, milliseconds(0), kMaxRetryAfter);
}

/// What follows "try again in", up to what is no duration any more.
std::optional<milliseconds> FromWords(std::string_view words) {
  constexpr std::string_view kPhrase = "try again in ";
  const std::size_t at = words.find(kPhrase);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  words.remove_prefix(at + kPhrase.size());
  const std::size_t end = words.find_first_not_of("0123456789.hmsun");
  std::string_view duration = words.substr(0, end);
  while (duration.ends_with('.')) {
    duration.remove_suffix(1);
  }
  // A number without a unit may be anything here.
  return duration.empty() || IsDigit(duration.back()) ? std::nullopt : ParseDuration(duration);
}

/// When the limit that is used up is there again.
std::optional<milliseconds> FromLimits(const RateLimits& limits) {
  std::optional<milliseconds> longest;
  if (limits.remaining_requests == 0) {
    longest = limits.reset_requests;
  }
  if (limits.remaining_tokens == 0 && limits.reset_tokens.has_value()) {
    longest = std::max(longest.value_or(milliseconds(0)), *limits.reset_tokens);
  }
  return longest;
}

}  // namespace

std::optional<milliseconds> ParseDuration(std::string_view text) {
  text = Trim(text);
  if (text.empty()) {
    return std::nullopt;
  }
  if (const std::optional<double> seconds = ParseNumber<double>(text); seconds.has_value()) {
    return FromSeconds(*seconds);
  }
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = LengthOfNumber(text);
    const std::optional<double> number = ParseNumber<double>(text.substr(0, digits));
    text.remove_prefix(digits);
    const auto next = std::find_if(text.begin(), text.end(), IsDigit);
    const auto letters = static_cast<std::size_t>(next - text.begin());
    const double unit = SecondsOf(text.substr(0, letters));
    if (!number.has_value() || unit == 0) {
      return std::nullopt;
    }
    total += *number * unit;
    text.remove_prefix(letters);
  }
  return FromSeconds(total);
}

std::optional<WallTime> ParseHttpDate(std::string_view text) {
  constexpr std::string_view kForm = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != kForm.size() || text.substr(25) != " GMT" || text[3] != ',' ||
      text[19] != ':' || text[22] != ':') {
    return std::nullopt;
  }
  const std::size_t month = kMonths.find(text.substr(8, 3));
  const auto day = ParseNumber<unsigned>(text.substr(5, 2));
  const auto year = ParseNumber<int>(text.substr(12, 4));
  const auto hour = ParseNumber<int>(text.substr(17, 2));
  const auto minute = ParseNumber<int>(text.substr(20, 2));
  const auto second = ParseNumber<int>(text.substr(23, 2));
  if (month == std::string_view::npos || month % 3 != 0 || !day || !year || !hour || !minute ||
      !second) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
                                         std::chrono::day(*day)};
  // The system clock counts nanoseconds in 64 bits: from 1677 to 2262.
  if (!date.ok() || *year < 1700 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

RateLimits ReadRateLimits(const http::Headers& headers) {
  const auto number = [&](std::string_view name) {
    return ParseNumber<std::int64_t>(ValueOf(headers, name));
  };
  return {
      .limit_requests = number("x-ratelimit-limit-requests"),
      .limit_tokens = number("x-ratelimit-limit-tokens"),
      .remaining_requests = number("x-ratelimit-remaining-requests"),
      .remaining_tokens = number("x-ratelimit-remaining-tokens"),
      .reset_requests = ParseDuration(ValueOf(headers, "x-ratelimit-reset-requests")),
      .reset_tokens = ParseDuration(ValueOf(headers, "x-ratelimit-reset-tokens")),
  };
}

std::optional<milliseconds> ReadRetryAfter(const http::Headers& headers, std::string_view words,
                                           WallTime now) {
  if (const auto wait = ParseNumber<double>(ValueOf(headers, "retry-after-ms"))) {
    return FromSeconds(*wait / 1000);
  }
  const std::string_view after = ValueOf(headers, "retry-after");
  if (const auto wait = ParseDuration(after)) {
    return wait;
  }
  if (const auto wait = FromDate(after, now)) {
    return wait;
  }
  if (const auto wait = FromWords(words)) {
    return wait;
  }
  return FromLimits(ReadRateLimits(headers));
}

}  // namespace ai::provider
