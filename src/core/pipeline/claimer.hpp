// Claims rows, loads their texts and cuts them into chunks. Bounded: rows are only claimed while
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

  /// The queue whose turn it is to claim; null if nothing is to be claimed now.
  Queue* Next();

  /// Claims rows of it, or loads those that are.
  void Run(Queue& queue);

  /// Claims suspects of a queue, with nothing else in hand. True if there were some.
  bool ClaimSuspects(Queue& queue);
  /// The queue whose turn it is, of those that have some; null if none has.
  Queue* NextWithSuspects();

  /// When others than suspects may be claimed next; and how often some were, or were tried to be.
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

/// The one of them whose turn it is. A provider that is in doubt is tried with rows of a queue that
/// did not fail there, if there is one: it tells more.
Queue* NextOf(policy::FairShare& share, std::span<Queue* const> queues);

}  // namespace ai::pipeline
