// Leaves a provider alone that fails again and again.
//
//   closed ──too many failures in a row, or one that only a hand can mend──▶ open
//   open ──its time is over──▶ half-open: one request in the whole server is the probe
//   half-open ──the probe succeeds──▶ closed     ──it fails──▶ open
//
// Plain data: it lives in shared memory.
#pragma once

#include <cstdint>

#include "core/policy/rate_bucket.hpp"

namespace ai::policy {

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

struct BreakerRules {
  int failures = 5;  // in a row
  Micros pause = 300 * kSecond;
};

struct Breaker {
  std::int32_t failures = 0;  // in a row
  std::int32_t prober = 0;    // the process whose request is the probe; 0: none is out
  bool broken = false;
  Micros opened_at = 0;

  /// Until then it is open. Another pause holds at once.
  Micros OpenUntil(const BreakerRules& rules) const { return broken ? opened_at + rules.pause : 0; }

  BreakerState State(const BreakerRules& rules, Micros now) const {
    if (!broken) {
      return BreakerState::kClosed;
    }
    return now < OpenUntil(rules) ? BreakerState::kOpen : BreakerState::kHalfOpen;
  }

  /// A request goes, which the state allows. True if it is the probe.
  bool Sent(std::int32_t process, const BreakerRules& rules, Micros now) {
    if (State(rules, now) != BreakerState::kHalfOpen) {
      return false;
    }
    prober = process;
    return true;
  }

  /// The provider has answered something sensible, to whichever request.
  void Succeeded() { *this = {}; }

  /// A request has failed. What was sent before it opened, and fails while it is open, says nothing
  /// new.
  void Failed(bool probe, bool at_once, const BreakerRules& rules, Micros now) {
    ++failures;
    if (probe) {
      prober = 0;
    }
    if (broken ? probe : at_once || failures >= rules.failures) {
      broken = true;
      opened_at = now;
    }
  }

  /// A request ends without an outcome; if it was the probe, another may go.
  void Released(bool probe) {
    if (probe) {
      prober = 0;
    }
  }
};

}  // namespace ai::policy
