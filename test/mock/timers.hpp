// timers.hpp: what a worker has to do later, in the order of time. Fires nothing by itself.
//
// A timer names its connection by number and a token: a connection that has gone or no longer wants
// the timer lets it run out, which costs less than finding it here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace ai::mock {

using Clock = std::chrono::steady_clock;

struct Timer {
  Clock::time_point when;
  uint64_t connection;
  uint64_t token;
};

class Timers {
 public:
  void Add(const Timer& timer) { queue_.push(timer); }

  /// Takes the earliest timer that is due.
  std::optional<Timer> TakeDue(Clock::time_point now);

  /// When the earliest is due.
  std::optional<Clock::time_point> Next() const;

 private:
  struct Later {
    bool operator()(const Timer& a, const Timer& b) const { return a.when > b.when; }
  };
  std::priority_queue<Timer, std::vector<Timer>, Later> queue_;
};

}  // namespace ai::mock
