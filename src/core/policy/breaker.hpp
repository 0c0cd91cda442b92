// The circuit breaker of an endpoint.
//
//   closed ──too many consecutive failures, or one that needs an administrator──▶ open
//   open ──its pause is over──▶ half-open: one request in the whole server is the probe
//   half-open ──the probe succeeds──▶ closed     ──it fails──▶ open, for twice as long
//
// The first probe is sent soon: most outages last seconds. If the failure needs an administrator,
// each probe waits for the whole pause.
//
// Failures of requests that were in flight together, or follow each other immediately, count as
// one: they are the same evidence, and bisection needs time to find the row at fault.
//
// A breaker that one role's requests have opened does not block other roles: while it is open, a
// role that has not contributed to that may send a probe immediately. Each role has one such probe:
// if it fails, the role has become a contributor.
//
// Plain data: it lives in shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/policy/rate_bucket.hpp"

namespace ai::policy {

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

struct BreakerRules {
  int failures = 5;                  // consecutive
  Micros pause = 300 * kSecond;      // before a probe, at most
  Micros first_probe = 5 * kSecond;  // after it has opened
  Micros apart = 0;                  // a failure counts only if sent so much later than the last
};

/// A role in a database; 0 is nobody.
using RoleId = std::uint64_t;

/// The roles whose requests have failed. If they are too many, everybody.
struct Contributors {
  static constexpr int kMax = 8;

  RoleId roles[kMax] = {};
  bool everybody = false;

  bool Has(RoleId role) const {
    return everybody || std::find(std::begin(roles), std::end(roles), role) != std::end(roles);
  }

  void Add(RoleId role) {
    if (!Has(role)) {
      RoleId* free = std::find(std::begin(roles), std::end(roles), RoleId{0});
      everybody = free == std::end(roles);
      if (!everybody) {
        *free = role;
      }
    }
  }
};

struct Breaker {
  static constexpr Micros kWholePause = std::numeric_limits<Micros>::max();

  std::int32_t failures = 0;  // consecutive
  std::int32_t prober = 0;    // the process whose probe is in flight; 0: none
  bool tripped = false;
  Micros opened_at = 0;   // or reopened by a failed probe
  Micros wait = 0;        // until the next probe, limited by the rules' pause
  Micros counted_at = 0;  // when the last failure was counted
  Contributors contributors = {};

  /// Until then it is open, then half-open. A changed pause applies immediately.
  Micros NextProbe(const BreakerRules& rules) const {
    return tripped ? opened_at + std::min(wait, rules.pause) : 0;
  }

  BreakerState State(const BreakerRules& rules, Micros now) const {
    if (!tripped) {
      return BreakerState::kClosed;
    }
    return now < NextProbe(rules) ? BreakerState::kOpen : BreakerState::kHalfOpen;
  }

  /// Whether a role may send a probe although it is open. INVARIANT: never for role 0.
  bool MayProbeEarly(RoleId role) const { return tripped && role != 0 && !contributors.Has(role); }

  /// A request is sent, as the state allows. True if it is the probe.
  bool Sent(std::int32_t process) {
    if (!tripped) {
      return false;
    }
    prober = process;
    return true;
  }

  /// The provider has replied properly to any request.
  void Succeeded() { *this = {.counted_at = counted_at}; }

  /// A request sent at that time has failed. One that was sent before the breaker opened and fails
  /// while it is open is no new evidence.
  void Failed(bool probe, Micros sent_at, RoleId role, const BreakerRules& rules, Micros now) {
    contributors.Add(role);
    if (probe) {
      prober = 0;
    } else if (counted_at != 0 && sent_at < counted_at + rules.apart) {
      return;
    }
    ++failures;
    counted_at = now;
    // An early probe of a non-contributor does not prolong the pause.
    if (tripped ? probe && sent_at >= NextProbe(rules) : failures >= rules.failures) {
      wait = wait < rules.pause ? std::max(2 * wait, rules.first_probe) : wait;
      Open(now);
    }
  }

  /// Opens immediately for a failure that affects every request, such as a refused key.
  void Trip(bool probe, Micros now) {
    ++failures;
    contributors.everybody = true;
    if (probe) {
      prober = 0;
    }
    wait = kWholePause;
    if (!tripped || probe) {
      Open(now);
    }
  }

  void Open(Micros now) {
    tripped = true;
    opened_at = now;
  }

  /// A request ends without an outcome; if it was the probe, another one may be sent.
  void Released(bool probe) {
    if (probe) {
      prober = 0;
    }
  }
};

}  // namespace ai::policy
