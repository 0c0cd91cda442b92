// Claims rows, loads their texts and chunks them. Memory is bounded: rows are only claimed while
// there is room for their texts and vectors, whatever their number and size.
#pragma once

#include "core/pipeline/leases.hpp"
#include "core/pipeline/plan.hpp"

namespace ai::pipeline {

class Claimer final {
 public:
  Claimer(const Clock& clock, Backlog& backlog, Peers& peers, Queues& queues, Capacity& capacity,
          Leases& leases, const Planner& planner)
      : clock_(clock),
        backlog_(backlog),
        peers_(peers),
        queues_(queues),
        capacity_(capacity),
        leases_(leases),
        planner_(planner) {}

  /// The next queue to claim from; null if nothing can be claimed now.
  Queue* Next();

  /// Claims rows of the queue, or loads claimed ones.
  void Run(Queue& queue);

  /// Claims suspects of a queue, while no other rows are in progress. True if there were any.
  bool ClaimSuspects(Queue& queue);
  /// The next queue that has suspects; null if none has.
  Queue* NextWithSuspects();

  /// When rows other than suspects may be claimed next, and how many claims were attempted.
  SteadyTime NextClaim() const;
  std::uint64_t claims() const { return claims_; }

 private:
  bool Open(Queue& queue);
  void FindRoute(Queue& queue);
  bool Claim(Queue& queue, ClaimRequest request);
  void EndLost(Queue& queue);
  void Load(Queue& queue);
  void Accept(Queue& queue, std::vector<LoadedRow> loaded);
  std::size_t RowsFor(const Queue& queue) const;

  const Clock& clock_;
  Backlog& backlog_;
  Peers& peers_;
  Queues& queues_;
  Capacity& capacity_;
  Leases& leases_;
  const Planner& planner_;
  policy::FairShare share_;           // by rows
  policy::FairShare suspects_share_;  // the same
  std::uint64_t claims_ = 0;
};

/// The next one by fair share. A provider whose breaker is tripped is probed with rows of a queue
/// that has not failed there, if there is one: that is better evidence.
Queue* NextOf(policy::FairShare& share, std::span<Queue* const> queues);

}  // namespace ai::pipeline
