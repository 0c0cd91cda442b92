// A clock that stands still until a test moves it.
#pragma once

#include <chrono>

#include "core/clock.hpp"

namespace ai::test {

class ManualClock final : public Clock {
 public:
  SteadyTime Now() const override { return steady_; }
  WallTime WallNow() const override { return wall_; }

  /// Both clocks go on.
  void Advance(std::chrono::nanoseconds by) {
    steady_ += std::chrono::duration_cast<SteadyTime::duration>(by);
    wall_ += std::chrono::duration_cast<WallTime::duration>(by);
  }

  /// An administrator sets the time of day; steady time does not notice.
  void SetWall(WallTime wall) { wall_ = wall; }

 private:
  // Not zero: a test must not pass because "never" and "now" look the same.
  SteadyTime steady_{std::chrono::hours(1000)};
  WallTime wall_{std::chrono::seconds(1'700'000'000)};
};

}  // namespace ai::test
