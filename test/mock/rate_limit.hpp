// rate_limit.hpp: token buckets for requests and for tokens per minute, as providers keep them.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "mock/settings.hpp"

namespace ai::mock {

/// What a provider tells in its x-ratelimit headers and in Retry-After.
struct QuotaState {
  bool limited = false;    // a limit is set
  bool exceeded = false;   // and this request is over it
  bool by_tokens = false;  // over the limit of tokens rather than of requests
  uint64_t limit_requests = 0;
  uint64_t limit_tokens = 0;
  uint64_t remaining_requests = 0;
  uint64_t remaining_tokens = 0;
  std::chrono::milliseconds reset_requests{0};  // until the bucket is full again
  std::chrono::milliseconds reset_tokens{0};
  std::chrono::milliseconds retry_after{0};  // until this request would pass
};

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes a request with its tokens from the buckets, unless it is over a limit. A refused request
  /// takes nothing.
  QuotaState Take(const RateLimit& limit, uint64_t tokens, Clock::time_point now);

  /// Fills the buckets.
  void Reset();

 private:
  struct Bucket {
    double level = 0;
    Clock::time_point filled;
    uint64_t rate = 0;  // per minute; another rate than last time starts a full bucket
    uint64_t capacity = 0;

    void Refill(uint64_t per_minute, uint64_t size, Clock::time_point now);
    std::chrono::milliseconds TimeUntil(double level_wanted) const;
  };

  std::mutex mutex_;
  Bucket requests_;
  Bucket tokens_;
};

}  // namespace ai::mock
