// Since when nothing has happened, and whether that is long enough to be idle.
//
// To be idle ends processes and the next change has to start them again, so it is not for a moment:
// not before ai.idle_timeout, a moment at least, and not if something falls due as soon as that
// again. Where others wait for the place, a moment is enough.
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

  /// Below 0: never.
  void SetTimeout(Span timeout, bool others_wait) {
    enabled_ = timeout >= Span(0);
    timeout_ = others_wait ? kMoment : std::max(timeout, kMoment);
  }

  void Active(SteadyTime now) { active_at_ = now; }

  bool IsIdle(SteadyTime now) const { return enabled_ && now >= IdleAt(); }
  /// When it is if nothing happens; nothing if it never is.
  std::optional<SteadyTime> NextCheck() const {
    return enabled_ ? std::optional(IdleAt()) : std::nullopt;
  }

  /// Whether that is worth it, by when something falls due; nothing: by events only.
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
