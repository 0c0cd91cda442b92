// A token bucket in the form of GCRA: each request moves the time at which everything sent is paid
// for at the rate, and the next one waits for that time, less some slack. So no burst accumulates,
// and a delay shorter than the slack is caught up.
//
// Plain data: it lives in shared memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ai::policy {

/// Microseconds of a monotonic clock shared by all processes of the machine.
using Micros = std::int64_t;
inline constexpr Micros kSecond = 1'000'000;

struct Rate {
  double per_second = 0;  // 0: no limit
  Micros slack = 0;       // how much early a request may be sent

  /// At most so many within any 60 seconds: the slack is deducted.
  static Rate PerMinute(std::int64_t count) {
    constexpr Micros kSlack = kSecond / 2;
    constexpr double kMinute = 60.0 + static_cast<double>(kSlack) / kSecond;
    return {static_cast<double>(count) / kMinute, kSlack};
  }
};

struct RateBucket {
  Micros paid_at = 0;  // when everything sent so far is paid for

  /// The time until the next may be sent; 0: now.
  Micros Wait(const Rate& rate, Micros now) const {
    return rate.per_second > 0 ? std::max<Micros>(0, paid_at - rate.slack - now) : 0;
  }

  /// Takes an amount. It may exceed what is available: then the next one waits longer.
  void Take(const Rate& rate, double amount, Micros now) {
    if (rate.per_second > 0) {
      paid_at = std::max(paid_at, now) + Cost(rate, amount);
    }
  }

  /// Returns an amount that was not used after all.
  void Return(const Rate& rate, double amount) {
    if (rate.per_second > 0) {
      paid_at -= Cost(rate, amount);
    }
  }

  /// The rate has changed: debts at the old rate are dropped.
  void Forgive(Micros now) { paid_at = std::min(paid_at, now); }

 private:
  static Micros Cost(const Rate& rate, double amount) {
    constexpr double kMax = 1e15;  // thirty years
    return static_cast<Micros>(std::ceil(std::min(amount / rate.per_second * kSecond, kMax)));
  }
};

}  // namespace ai::policy
