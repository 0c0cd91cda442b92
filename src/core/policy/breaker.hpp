// Leaves a provider alone that fails again and again.
//
//   closed ──too many failures in a row, or one that only a hand can mend──▶ open
//   open ──its time is over──▶ half-open: one request in the whole server is the probe
//   half-open ──the probe succeeds──▶ closed     ──it fails──▶ open, for twice as long
//
// The first probe comes soon: most troubles are over in seconds. Where only a hand can mend it,
// each takes the whole pause.
//
// Failures of requests that were under way together, or follow on one another at once, are one:
// they say the same, and who cuts a request in halves to find the row to blame has time for it.
//
// A breaker that one role's requests have opened does not shut out the others: while it is open, a
// role that has no part in that may send a probe at once. Each has one, for if it fails, it has its
// part.
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
  int failures = 5;                  // in a row
  Micros pause = 300 * kSecond;      // before a probe, at most
  Micros first_probe = 5 * kSecond;  // after it has opened
  Micros apart = 0;  // so much later than the last failure a request has to be sent to be another
};

/// A role in a database; 0 is nobody.
using RoleId = std::uint64_t;

/// Whose requests have failed. If they are too many to be told apart, it is everybody.
struct Contributors {
  static constexpr int kMost = 8;

  RoleId roles[kMost] = {};
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

  std::int32_t failures = 0;  // in a row
  std::int32_t prober = 0;    // the process whose request is the probe; 0: none is out
  bool broken = false;
  Micros opened_at = 0;   // the first time, or again by a probe that failed
  Micros wait = 0;        // from then to the next probe, if the rules' pause is not shorter
  Micros counted_at = 0;  // when the last failure was counted
  Contributors contributors = {};

  /// Until then it is open, then half-open. Another pause holds at once.
  Micros NextProbe(const BreakerRules& rules) const {
    return broken ? opened_at + std::min(wait, rules.pause) : 0;
  }

  BreakerState State(const BreakerRules& rules, Micros now) const {
    if (!broken) {
      return BreakerState::kClosed;
    }
    return now < NextProbe(rules) ? BreakerState::kOpen : BreakerState::kHalfOpen;
  }

  /// Whether a role may send a probe though it is open. INVARIANT: 0 is never in doubt, and never
  /// an outsider.
  bool MayProbeEarly(RoleId role) const { return broken && role != 0 && !contributors.Has(role); }

  /// A request goes, which the state allows. True if it is the probe.
  bool Sent(std::int32_t process) {
    if (!broken) {
      return false;
    }
    prober = process;
    return true;
  }

  /// The provider has answered something sensible, to whichever request.
  void Succeeded() { *this = {.counted_at = counted_at}; }

  /// A request has failed that was sent then. What was sent before it opened, and fails while it is
  /// open, says nothing new.
  void Failed(bool probe, Micros sent_at, RoleId role, const BreakerRules& rules, Micros now) {
    contributors.Add(role);
    if (probe) {
      prober = 0;
    } else if (counted_at != 0 && sent_at < counted_at + rules.apart) {
      return;
    }
    ++failures;
    counted_at = now;
    // A probe that was sent before its time, by an outsider, does not make it longer.
    if (broken ? probe && sent_at >= NextProbe(rules) : failures >= rules.failures) {
      wait = wait < rules.pause ? std::max(2 * wait, rules.first_probe) : wait;
      Open(now);
    }
  }

  /// Nobody can have it otherwise: the key is refused, for one.
  void Break(bool probe, Micros now) {
    ++failures;
    contributors.everybody = true;
    if (probe) {
      prober = 0;
    }
    wait = kWholePause;
    if (!broken || probe) {
      Open(now);
    }
  }

  void Open(Micros now) {
    broken = true;
    opened_at = now;
  }

  /// A request ends without an outcome; if it was the probe, another may go.
  void Released(bool probe) {
    if (probe) {
      prober = 0;
    }
  }
};

}  // namespace ai::policy
