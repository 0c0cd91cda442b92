// Since when there was no activity, and whether that is long enough to be idle.
//
// Going idle terminates processes that the next change has to restart, so it takes ai.idle_timeout,
// at least kMoment, and does not happen if work falls due within that time. If other databases wait
// for the slot, kMoment is enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/clock.hpp"

namespace ai::policy {

class IdleClock {
 public:
  using Span = std::chrono::milliseconds;

  static constexpr Span kMoment{500};

  /// Negative: never idle.
  void SetTimeout(Span timeout, bool others_wait) {
    enabled_ = timeout >= Span(0);
    timeout_ = others_wait ? kMoment : std::max(timeout, kMoment);
  }

  void Active(SteadyTime now) { active_at_ = now; }

  bool IsIdle(SteadyTime now) const { return enabled_ && now >= IdleAt(); }
  /// When it becomes idle without further activity; nothing if never.
  std::optional<SteadyTime> NextCheck() const {
    return enabled_ ? std::optional(IdleAt()) : std::nullopt;
  }

  /// Whether going idle is worthwhile, given when work falls due; unset: only by events.
  bool MayIdle(SteadyTime now, std::optional<SteadyTime> due) const {
    return enabled_ && (!due || *due > now + timeout_);
  }

 private:
  SteadyTime IdleAt() const { return active_at_ + timeout_; }

  bool enabled_ = true;
  Span timeout_{kMoment};
  SteadyTime active_at_{};
};

}  // namespace ai::policy
