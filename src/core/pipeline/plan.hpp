// What each queue may do next, and when: decided here, and nowhere else. Whatever is due now is
// done in this turn or the next; the time to wait is the earliest of all plans.
#pragma once

#include "core/pipeline/capacity.hpp"
#include "core/pipeline/owner_share.hpp"

namespace ai::pipeline {

/// When a queue may go on with each step; kNever if something else has to happen before.
struct Plan {
  SteadyTime claim = kNever;     // or load, or release, what is claimed already
  SteadyTime suspects = kNever;  // claim those that a process has died with
  SteadyTime send = kNever;
  SteadyTime store = kNever;
  SteadyTime report = kNever;  // add to the counters of the database

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

  /// Whether a request that is not full waits for more, where requests are scarce.
  bool WaitsForMore(const Queue& queue, SteadyTime now) const;

  /// Nothing else is claimed while suspects are in hand, or wait for all else to be done.
  void SetIsolating(bool isolating, std::optional<QueueId> in_hand) {
    isolating_ = isolating;
    isolated_ = in_hand;
  }
  bool isolating() const { return isolating_; }
  /// Whose suspects are in hand.
  bool IsIsolated(const Queue& queue) const { return isolated_ == queue.id; }
  /// Suspects are not claimed before.
  void HoldSuspects(SteadyTime until) { suspects_after_ = until; }

 private:
  bool WantsMore(const Queue& queue) const;
  SteadyTime Barred(const Queue& queue, SteadyTime now) const;
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
