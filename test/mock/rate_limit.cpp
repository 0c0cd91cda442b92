// rate_limit.cpp: token buckets for requests and for tokens per minute.
#include "mock/rate_limit.hpp"

#include <algorithm>
#include <cmath>

namespace ai::mock {

namespace {

constexpr double kMinute = 60'000;  // milliseconds
// What a provider without a limit of ours claims to have.
constexpr uint64_t kUsualRequests = 10'000;
constexpr uint64_t kUsualTokens = 10'000'000;

}  // namespace

void RateLimiter::Bucket::Refill(uint64_t per_minute, uint64_t size, Clock::time_point now) {
  if (rate != per_minute || capacity != size) {
    rate = per_minute;
    capacity = size;
    level = static_cast<double>(size);
  } else {
    const std::chrono::duration<double, std::milli> passed = now - filled;
    level += passed.count() * static_cast<double>(rate) / kMinute;
    level = std::min(level, static_cast<double>(size));
  }
  filled = now;
}

std::chrono::milliseconds RateLimiter::Bucket::TimeUntil(double level_wanted) const {
  const double missing = std::max(0.0, level_wanted - level);
  return std::chrono::milliseconds(
      static_cast<int64_t>(std::ceil(missing * kMinute / static_cast<double>(rate))));
}

QuotaState RateLimiter::Take(const RateLimit& limit, uint64_t tokens, Clock::time_point now) {
  QuotaState state;
  state.limited = limit.requests_per_minute > 0 || limit.tokens_per_minute > 0;
  if (!state.limited) {
    state.limit_requests = kUsualRequests;
    state.limit_tokens = kUsualTokens;
    state.remaining_requests = kUsualRequests - 1;
    state.remaining_tokens = kUsualTokens - std::min(tokens, kUsualTokens);
    return state;
  }
  const uint64_t rpm = limit.requests_per_minute > 0 ? limit.requests_per_minute : kUsualRequests;
  const uint64_t tpm = limit.tokens_per_minute > 0 ? limit.tokens_per_minute : kUsualTokens;
  const std::lock_guard lock(mutex_);
  requests_.Refill(rpm, limit.burst > 0 ? limit.burst : rpm, now);
  tokens_.Refill(tpm, tpm, now);
  const auto wanted_tokens = static_cast<double>(tokens);
  const bool no_requests = limit.requests_per_minute > 0 && requests_.level < 1;
  const bool no_tokens = limit.tokens_per_minute > 0 && tokens_.level < wanted_tokens;
  state.exceeded = no_requests || no_tokens;
  state.by_tokens = no_tokens && !no_requests;
  if (no_requests) {
    state.retry_after = requests_.TimeUntil(1);
  }
  if (no_tokens) {
    state.retry_after = std::max(state.retry_after, tokens_.TimeUntil(wanted_tokens));
  }
  if (!state.exceeded) {
    requests_.level = std::max(0.0, requests_.level - 1);
    tokens_.level = std::max(0.0, tokens_.level - wanted_tokens);
  }
  state.limit_requests = rpm;
  state.limit_tokens = tpm;
  state.remaining_requests = static_cast<uint64_t>(requests_.level);
  state.remaining_tokens = static_cast<uint64_t>(tokens_.level);
  state.reset_requests = requests_.TimeUntil(static_cast<double>(requests_.capacity));
  state.reset_tokens = tokens_.TimeUntil(static_cast<double>(tokens_.capacity));
  return state;
}

void RateLimiter::Reset() {
  const std::lock_guard lock(mutex_);
  requests_ = {};
  tokens_ = {};
}

}  // namespace ai::mock
