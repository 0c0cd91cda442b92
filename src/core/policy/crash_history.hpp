// When a process recently crashed, whether it is to be restarted, and after which delay. Wall-clock
// times, since they are kept in a table.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/clock.hpp"

namespace ai::policy {

class CrashHistory {
 public:
  CrashHistory() = default;
  explicit CrashHistory(std::vector<WallTime> times) : times_(std::move(times)) {}

  void Add(WallTime when) { times_.push_back(when); }

  /// Removes crashes before the window, and those in the future: the clock was set back, so it is
  /// unknown how long ago they were.
  void Trim(WallTime now, std::chrono::milliseconds window);

  /// Whether it crashed so often that it is not to be restarted.
  bool Reaches(int limit) const { return times_.size() >= static_cast<std::size_t>(limit); }

  /// The delay before it is restarted: none after the first crash, then 1 s, doubled each time up
  /// to 60 s.
  std::chrono::seconds Pause() const;

  std::span<const WallTime> times() const { return times_; }

 private:
  std::vector<WallTime> times_;
};

}  // namespace ai::policy
