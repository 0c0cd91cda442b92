// Rows that may have killed a process. When one dies, each row it had may have been the reason.
// They are worked on with nothing else in hand: in small groups, and those of a group that ended
// another process one by one. So the row is found after three deaths, however many rows there were,
// and becomes a dead letter.
//
// One worker of a database does that, or rows of two would go down together each time. Others go on
// meanwhile; and where there are none, other rows get as much time as these.
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

  /// Begins or ends with suspects, if it is time.
  void Run();

  /// Whether it has to go on in the next turn, without waiting.
  bool IsDue() const;

 private:
  bool Begin();
  void End();
  bool IsHeldUp(const Queue& queue) const;
  void LetGoOfHeldUp();

  const Clock& clock_;
  Peers& peers_;
  Queues& queues_;
  Leases& leases_;
  Claimer& claimer_;
  Planner& planner_;
  std::optional<QueueId> queue_;  // whose suspects are in hand
  SteadyTime since_ = {};
  SteadyTime after_ = {};                           // if there is something else to do
  std::map<QueueId, std::uint64_t> claims_before_;  // of others, when each had its last turn
};

}  // namespace ai::pipeline
