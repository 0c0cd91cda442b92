// Time as a parameter, so that everything that waits, expires or backs off is tested without
// waiting. Steady time measures durations within one process; wall time is for what is stored or
// shown. The core never sleeps: callers wait in their own event loop.
#pragma once

#include <chrono>

namespace ai {

using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Never goes back. Its values mean nothing to another process.
  virtual SteadyTime Now() const = 0;

  /// The time of day; an administrator may set it back or forth.
  virtual WallTime WallNow() const = 0;
};

class SystemClock final : public Clock {
 public:
  SteadyTime Now() const override;
  WallTime WallNow() const override;
};

}  // namespace ai
