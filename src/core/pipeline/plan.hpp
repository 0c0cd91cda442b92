// Decides what each queue may do next, and when; nothing else does. What is due now is done in this
// turn or the next; the time to wait is the minimum over all plans.
#pragma once

#include "core/pipeline/capacity.hpp"
#include "core/pipeline/owner_share.hpp"

namespace ai::pipeline {

/// When a queue may take each step; kNever if that needs an event first.
struct Plan {
  SteadyTime claim = kNever;     // or load, or release, rows claimed already
  SteadyTime suspects = kNever;  // claim rows that a process crashed with
  SteadyTime send = kNever;
  SteadyTime store = kNever;
  SteadyTime report = kNever;  // add to the usage counters in the database

  SteadyTime Next() const { return std::min({claim, suspects, send, store, report}); }
};

class Planner final {
 public:
  Planner(const Settings& settings, const Queues& queues, const Capacity& capacity,
          const Peers& peers, const ModelRunner& model)
      : settings_(settings),
        queues_(queues),
        capacity_(capacity),
        owners_(settings, queues, peers),
        model_(model) {}

  Plan For(const Queue& queue, SteadyTime now) const;

  SteadyTime Claim(const Queue& queue, SteadyTime now) const;
  SteadyTime Send(const Queue& queue, SteadyTime now) const;
  SteadyTime Store(const Queue& queue, SteadyTime now) const;
  SteadyTime Suspects(const Queue& queue, SteadyTime now) const;

  /// Whether a partial batch waits for more rows, because requests are rate-limited.
  bool WaitsForMore(const Queue& queue, SteadyTime now) const;

  /// Nothing else is claimed while suspects are in progress, or wait for everything else to finish.
  void SetIsolating(bool isolating, std::optional<QueueId> in_progress) {
    isolating_ = isolating;
    isolated_ = in_progress;
  }
  bool isolating() const { return isolating_; }
  /// Whether the queue's suspects are in progress.
  bool IsIsolated(const Queue& queue) const { return isolated_ == queue.id; }
  /// Suspects are not claimed before then.
  void HoldSuspects(SteadyTime until) { suspects_after_ = until; }

 private:
  bool WantsMore(const Queue& queue) const;
  SteadyTime SendBlockedUntil(const Queue& queue, SteadyTime now) const;
  SteadyTime Resend(const Queue& queue, SteadyTime now) const;

  const Settings& settings_;
  const Queues& queues_;
  const Capacity& capacity_;
  const OwnerShare owners_;
  const ModelRunner& model_;
  bool isolating_ = false;
  std::optional<QueueId> isolated_;
  SteadyTime suspects_after_ = {};
};

}  // namespace ai::pipeline
