// Whether an endpoint may be asked right now, and what its answers mean for that: the limits it was
// given, the pauses it asked for, the breaker. One for each endpoint and key in the whole server.
//
// Plain data in shared memory: whoever calls anything here holds the lock.
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

/// The stricter of two limits, each for itself.
EndpointLimits Strictest(const EndpointLimits& one, const EndpointLimits& other);

enum class Obstacle : std::uint8_t {
  kNone,
  kRate,     // the limit is used up for now
  kCooling,  // the provider asked to be left alone
  kProbing,  // the breaker waits for the outcome of one request
  kOpen,     // the breaker is open
};

/// For what ends with an event and not at a time.
inline constexpr Micros kNoEnd = std::numeric_limits<Micros>::max();

struct Standing {
  Obstacle obstacle = Obstacle::kNone;
  Micros wait = 0;
};

/// A request that was let through; its outcome is reported once.
struct Admission {
  Micros sent_at = 0;
  double tokens = 0;
  bool probe = false;
  RoleId role = 0;  // whose texts are in it
};

/// What a failure of a request says.
struct Verdict {
  bool follows_rows = false;  // others get through, these rows do not: it is about them
  bool broken = false;        // the breaker is not closed now
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
  std::int32_t refusals = 0;  // since the last success, without saying how long to wait
  Micros well_at = 0;         // when the latest of the requests that succeeded was sent

  /// For a role, or for somebody of whom nothing is known.
  Standing Look(const BreakerRules& rules, Micros now, RoleId role = 0) const;

  /// How many requests could go within a time, about; at least one.
  double RequestsWithin(Micros time, const BreakerRules& rules, Micros now) const;

  /// Lets a request of a process through, unless something is in its way.
  std::optional<Admission> Admit(std::int32_t process, const BreakerRules& rules, Micros now,
                                 RoleId role = 0);

  /// What the request takes of the limit of tokens: first as we count, then as the provider did.
  void Charge(Admission& admission, double tokens_now, Micros now);

  void Succeeded(const Admission& admission);
  /// With the time since when its rows, or all of their queue, fail; 0: they did not until now. If
  /// somebody else's request has gone well that was sent after that, the failure follows the rows:
  /// the breaker does not count it.
  Verdict Failed(const Admission& admission, const Failure& failure, Micros failing_since,
                 const BreakerRules& rules, Micros now);
  void Cancelled(const Admission& admission, Micros now);

  void SetLimits(const EndpointLimits& wanted, Micros now);

  /// A hand says that all is well.
  void Mend();

 private:
  Rate RequestRate() const { return Rate::PerMinute(limits.requests_per_minute); }
  Rate TokenRate() const { return Rate::PerMinute(limits.tokens_per_minute); }
  void Answered(const Admission& admission);
  void CoolDown(const Admission& admission, const Failure& failure, Micros now);
};

/// Whether a failure that only a hand can mend is about the endpoint or the key, and so about every
/// request there; else about the model or the parameters of one vectorizer.
bool IsOfEndpoint(const Failure& failure);

}  // namespace ai::policy
