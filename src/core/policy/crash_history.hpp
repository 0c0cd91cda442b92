// When a process crashed lately, and what follows from it: whether it is started again, and how
// long to wait before that. Times of day, since they outlive processes in a table.
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

  /// Forgets what was before the window; and what is yet to come, since then somebody
  /// has set the clock back and nobody knows how long ago it was.
  void Trim(WallTime now, std::chrono::milliseconds window);

  /// Whether it has crashed so often that it is not to be started again.
  bool Reaches(int limit) const { return times_.size() >= static_cast<std::size_t>(limit); }

  /// How long to wait before it is started again: nothing after the first crash, then 1 s, doubled
  /// each time up to 60 s.
  std::chrono::seconds Pause() const;

  std::span<const WallTime> times() const { return times_; }

 private:
  std::vector<WallTime> times_;
};

}  // namespace ai::policy
