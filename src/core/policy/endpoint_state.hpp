// Whether a request may be sent to an endpoint now, and how replies affect that: configured limits,
// Retry-After, adaptive pace, circuit breaker. One per endpoint and key in the whole server.
//
// Plain data in shared memory: callers hold the lock.
#pragma once

#include <limits>
#include <optional>

#include "core/failure.hpp"
#include "core/policy/breaker.hpp"
#include "core/policy/pace.hpp"
#include "core/policy/rate_bucket.hpp"

namespace ai::policy {

/// 0: no limit.
struct EndpointLimits {
  std::int64_t requests_per_minute = 0;
  std::int64_t tokens_per_minute = 0;

  bool operator==(const EndpointLimits&) const = default;
};

/// The stricter of each limit.
EndpointLimits Strictest(const EndpointLimits& one, const EndpointLimits& other);

enum class Obstacle : std::uint8_t {
  kNone,
  kRate,     // the rate limit is exhausted for now
  kCooling,  // cooling down: the provider asked to retry later
  kProbing,  // the breaker is half-open and waits for its probe
  kOpen,     // the breaker is open
};

/// The wait ends with an event, not at a known time.
inline constexpr Micros kNoEnd = std::numeric_limits<Micros>::max();

struct Availability {
  Obstacle obstacle = Obstacle::kNone;
  Micros wait = 0;
};

/// A request that was admitted; its outcome is reported once.
struct Admission {
  Micros sent_at = 0;
  double tokens = 0;
  bool probe = false;
  RoleId role = 0;  // whose texts it contains
};

/// What the failure of a request means.
struct Verdict {
  bool follows_rows = false;  // other requests succeed: the rows are at fault
  bool tripped = false;       // the breaker is open or half-open now
};

struct EndpointState {
  Breaker breaker;
  EndpointLimits limits;
  RateBucket requests;
  RateBucket tokens;
  Pace pace;
  RateBucket paced_requests;
  RateBucket paced_tokens;
  Micros cooling_until = 0;
  std::int32_t refusals = 0;        // since the last success, without Retry-After
  Micros last_success_sent_at = 0;  // of the successful request that was sent last

  /// For a role; 0 if it is not known.
  Availability Check(const BreakerRules& rules, Micros now, RoleId role = 0) const;

  /// About how many requests could be sent within a time; at least one.
  double RequestsWithin(Micros time, const BreakerRules& rules, Micros now) const;

  /// Admits a request of a process, unless there is an obstacle.
  std::optional<Admission> Admit(std::int32_t process, const BreakerRules& rules, Micros now,
                                 RoleId role = 0);

  /// Charges the request to the token limit: first by our count, then by the provider's.
  void Charge(Admission& admission, double tokens_now, Micros now);

  void Succeeded(const Admission& admission);
  /// With the time since when its rows, or all of their queue, have been failing; 0: they have not.
  /// If another request succeeded that was sent after that, the rows are at fault: the breaker does
  /// not count the failure.
  Verdict Failed(const Admission& admission, const Failure& failure, Micros failing_since,
                 const BreakerRules& rules, Micros now);
  void Cancelled(const Admission& admission, Micros now);

  void SetLimits(const EndpointLimits& wanted, Micros now);

  /// An administrator has resumed the provider: closes the breaker and ends any pause.
  void Reset();

 private:
  Rate RequestRate() const { return Rate::PerMinute(limits.requests_per_minute); }
  Rate TokenRate() const { return Rate::PerMinute(limits.tokens_per_minute); }
  void Answered(const Admission& admission);
  void CoolDown(const Admission& admission, const Failure& failure, Micros now);
};

/// Whether a configuration failure concerns the endpoint or the key, and so every request there;
/// otherwise it concerns the model or parameters of one vectorizer.
bool IsOfEndpoint(const Failure& failure);

}  // namespace ai::policy
