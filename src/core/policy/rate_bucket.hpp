// A rate that is kept smoothly: whatever goes is paid for at the rate, and what comes next waits
// until it is, but for a little slack. So nothing is saved up for a burst, and who was late by less
// than the slack catches up.
//
// Plain data: it lives in shared memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ai::policy {

/// Microseconds of a clock that never goes back and that all processes of the machine share.
using Micros = std::int64_t;
inline constexpr Micros kSecond = 1'000'000;

struct Rate {
  double per_second = 0;  // 0: no limit
  Micros slack = 0;       // how much earlier than its time something may go

  /// So much in any minute, wherever it begins; never more, for the slack is taken from it.
  static Rate PerMinute(std::int64_t count) {
    constexpr Micros kSlack = kSecond / 2;
    constexpr double kMinute = 60.0 + static_cast<double>(kSlack) / kSecond;
    return {static_cast<double>(count) / kMinute, kSlack};
  }
};

struct RateBucket {
  Micros paid_at = 0;  // when all that went is paid for

  /// How long until the next may go; 0: now.
  Micros Wait(const Rate& rate, Micros now) const {
    return rate.per_second > 0 ? std::max<Micros>(0, paid_at - rate.slack - now) : 0;
  }

  /// Something goes. It may be worth more than is there: the next one waits the longer.
  void Take(const Rate& rate, double amount, Micros now) {
    if (rate.per_second > 0) {
      paid_at = std::max(paid_at, now) + Cost(rate, amount);
    }
  }

  /// It was worth less, or did not go after all.
  void Return(const Rate& rate, double amount) {
    if (rate.per_second > 0) {
      paid_at -= Cost(rate, amount);
    }
  }

  /// The rate is another one from now on: what was paid for at the old one is forgiven.
  void Forgive(Micros now) { paid_at = std::min(paid_at, now); }

 private:
  static Micros Cost(const Rate& rate, double amount) {
    constexpr double kMost = 1e15;  // thirty years
    return static_cast<Micros>(std::ceil(std::min(amount / rate.per_second * kSecond, kMost)));
  }
};

}  // namespace ai::policy
