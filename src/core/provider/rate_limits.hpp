// What a provider says about time and rates: when to come back, and how much of its limits is left.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.hpp"
#include "core/http/headers.hpp"

namespace ai::provider {

/// No provider is taken at its word for longer.
inline constexpr std::chrono::milliseconds kMaxRetryAfter = std::chrono::hours(24);

/// From x-ratelimit-* headers; a provider sends some of them or none.
struct RateLimits {
  std::optional<std::int64_t> limit_requests = std::nullopt;
  std::optional<std::int64_t> limit_tokens = std::nullopt;
  std::optional<std::int64_t> remaining_requests = std::nullopt;
  std::optional<std::int64_t> remaining_tokens = std::nullopt;
  std::optional<std::chrono::milliseconds> reset_requests = std::nullopt;
  std::optional<std::chrono::milliseconds> reset_tokens = std::nullopt;
};

RateLimits ReadRateLimits(const http::Headers& headers);

/// How long to wait: from retry-after-ms, Retry-After (seconds or a date), from "try again in 6m0s"
/// in the words of the provider, or from the limit that is used up; nothing if none of them says.
std::optional<std::chrono::milliseconds> ReadRetryAfter(const http::Headers& headers,
                                                        std::string_view words, WallTime now);

/// "20ms", "1s", "6m0s", "1h2m3.5s", or a number of seconds. Clipped to kMaxRetryAfter.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// "Sun, 06 Nov 1994 08:49:37 GMT", the form that servers have to send.
std::optional<WallTime> ParseHttpDate(std::string_view text);

}  // namespace ai::provider
