// Suspects: rows that may have crashed a process. When a worker crashes, each row it held may be
// the cause. Suspects are processed with no other rows in progress: in small groups, and one by one
// if a group has crashed another process. So the row at fault is found after three crashes, however
// many rows there were, and becomes a dead letter.
//
// Only one worker of a database does this, because suspects of two workers could crash together
// each time. Other workers continue meanwhile; if there are none, other rows get as much time as
// suspects.
#pragma once

#include "core/pipeline/claimer.hpp"

namespace ai::pipeline {

class Isolator final {
 public:
  Isolator(const Clock& clock, Peers& peers, Queues& queues, Leases& leases, Claimer& claimer,
           Planner& planner)
      : clock_(clock),
        peers_(peers),
        queues_(queues),
        leases_(leases),
        claimer_(claimer),
        planner_(planner) {}

  /// Starts or finishes processing suspects, if due.
  void Run();

  /// Whether the next turn has to follow without waiting.
  bool IsDue() const;

 private:
  bool Begin();
  void End();
  bool IsBlocked(const Queue& queue) const;
  void ReleaseBlocked();

  const Clock& clock_;
  Peers& peers_;
  Queues& queues_;
  Leases& leases_;
  Claimer& claimer_;
  Planner& planner_;
  std::optional<QueueId> queue_;  // whose suspects are in progress
  SteadyTime since_ = {};
  SteadyTime after_ = {};                           // if there is other work
  std::map<QueueId, std::uint64_t> claims_before_;  // of other rows, at each queue's last turn
};

}  // namespace ai::pipeline
