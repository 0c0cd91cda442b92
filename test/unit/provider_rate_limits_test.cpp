// Tests of core/provider/rate_limits: durations, dates, headers.
#include "core/provider/rate_limits.hpp"

#include <optional>
#include <string_view>

#include "unit/catch_bridge.hpp"
#include "unit/provider_fixture.hpp"

using ai::http::Headers;
using ai::provider::kMaxRetryAfter;
using ai::provider::ParseDuration;
using ai::provider::ParseHttpDate;
using ai::provider::RateLimits;
using ai::provider::ReadRateLimits;
using ai::provider::ReadRetryAfter;
using ai::test::kNow;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("durations as providers write them", "[provider]") {
  CHECK(ParseDuration("1s") == seconds(1));
  CHECK(ParseDuration("6m0s") == seconds(360));
  CHECK(ParseDuration("20ms") == milliseconds(20));
  CHECK(ParseDuration("1h2m3.5s") == milliseconds(3'723'500));
  CHECK(ParseDuration("8.64s") == milliseconds(8640));
  CHECK(ParseDuration("60") == seconds(60));
  CHECK(ParseDuration("0") == seconds(0));
  CHECK(ParseDuration("0s") == seconds(0));
  CHECK(ParseDuration(" 0.5 ") == milliseconds(500));
  CHECK(ParseDuration("100us") == milliseconds(1));
  CHECK(ParseDuration("999999h") == kMaxRetryAfter);
  CHECK(ParseDuration("1e300") == kMaxRetryAfter);
  for (const std::string_view text : {"", " ", "s", "1x", "-1", "-1s", "1s2", "nan", "inf", "1..2s",
                                      "5 minutes", "1s,2s", ".", "1s-", "+1"}) {
    INFO(text);
    CHECK_FALSE(ParseDuration(text).has_value());
  }
}

TEST_CASE("dates as servers have to write them", "[provider]") {
  CHECK(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT") == ai::WallTime(seconds(784'111'777)));
  CHECK(ParseHttpDate("Sun, 01 Mar 2026 12:00:00 GMT") == kNow);
  for (const std::string_view text :
       {"", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 ovD 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 9999 08:49:37 GMT", "Sun, 06 Nov 19x4 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT"}) {
    INFO(text);
    CHECK_FALSE(ParseHttpDate(text).has_value());
  }
}

TEST_CASE("when to come back", "[provider]") {
  const auto after = [](const Headers& headers, std::string_view words = "") {
    return ReadRetryAfter(headers, words, kNow);
  };
  CHECK(after({{"Retry-After", "7"}}) == seconds(7));
  CHECK(after({{"retry-after", "1.5"}}) == milliseconds(1500));
  CHECK(after({{"Retry-After", "Sun, 01 Mar 2026 12:01:30 GMT"}}) == seconds(90));
  CHECK(after({{"Retry-After", "Sun, 01 Mar 2026 11:00:00 GMT"}}) == seconds(0));
  CHECK(after({{"Retry-After", "Sun, 01 Mar 2099 11:00:00 GMT"}}) == kMaxRetryAfter);
  CHECK(after({{"Retry-After", "7"}, {"retry-after-ms", "250"}}) == milliseconds(250));
  CHECK(after({{"Retry-After", "99999999999999999999"}}) == kMaxRetryAfter);
  CHECK(after({}, "Please try again in 857ms. Visit") == milliseconds(857));
  CHECK(after({}, "Please try again in 6m0s.") == seconds(360));
  CHECK(after({{"Retry-After", "7"}}, "try again in 6m0s") == seconds(7));
  CHECK(after({{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "12s"}}) ==
        seconds(12));
  CHECK(after({{"x-ratelimit-remaining-requests", "0"},
               {"x-ratelimit-reset-requests", "12s"},
               {"x-ratelimit-remaining-tokens", "0"},
               {"x-ratelimit-reset-tokens", "6m0s"}}) == seconds(360));
  CHECK(after({{"x-ratelimit-remaining-tokens", "5"}, {"x-ratelimit-reset-tokens", "6m0s"}}) ==
        std::nullopt);
  for (const char* value : {"-5", "soon", "", "NaN"}) {
    INFO(value);
    CHECK(after({{"Retry-After", value}}) == std::nullopt);
  }
  for (const char* words : {"try again in a while", "try again in 5", "try again in ", ""}) {
    INFO(words);
    CHECK(after({}, words) == std::nullopt);
  }
}

TEST_CASE("what is left of a limit", "[provider]") {
  const RateLimits limits = ReadRateLimits({{"X-RateLimit-Limit-Requests", "3000"},
                                            {"x-ratelimit-limit-tokens", "1000000"},
                                            {"x-ratelimit-remaining-requests", "2999"},
                                            {"x-ratelimit-remaining-tokens", "999990"},
                                            {"x-ratelimit-reset-requests", "20ms"},
                                            {"x-ratelimit-reset-tokens", "1m1s"}});
  CHECK(limits.limit_requests == 3000);
  CHECK(limits.limit_tokens == 1'000'000);
  CHECK(limits.remaining_requests == 2999);
  CHECK(limits.remaining_tokens == 999'990);
  CHECK(limits.reset_requests == milliseconds(20));
  CHECK(limits.reset_tokens == seconds(61));
  const RateLimits none = ReadRateLimits(
      {{"x-ratelimit-remaining-requests", "-1"}, {"x-ratelimit-remaining-tokens", "many"}});
  CHECK_FALSE(none.limit_requests.has_value());
  CHECK_FALSE(none.remaining_requests.has_value());
  CHECK_FALSE(none.remaining_tokens.has_value());
  CHECK_FALSE(none.reset_tokens.has_value());
}
