// Stores rows that have their vectors, in short transactions, and finds out which row is at fault
// when that fails: rows that could not be stored together are bisected until each is tried alone.
#pragma once

#include "core/pipeline/leases.hpp"
#include "core/pipeline/plan.hpp"

namespace ai::pipeline {

class Storer final {
 public:
  Storer(const Clock& clock, Random& random, Queues& queues, InFlight& in_flight, Leases& leases,
         const Planner& planner, Tally& tally)
      : clock_(clock),
        random_(random),
        queues_(queues),
        in_flight_(in_flight),
        leases_(leases),
        planner_(planner),
        tally_(tally) {}

  /// Each owner gets a part of the turn, so that none waits for everything that another has to
  /// store.
  void Run();

  /// Stores what is ready of a queue, until a deadline.
  void StoreReady(Queue& queue, SteadyTime until);

 private:
  /// The outcome for rows that were to be stored together.
  struct Outcome {
    bool any = false;                      // some were stored
    std::vector<Unexplained> unexplained;  // not stored; the row or the table is at fault
  };

  void Store(Queue& queue, std::span<const RowPtr> rows, Outcome& outcome);
  void OnStored(Queue& queue, std::span<const RowPtr> rows, const Stored& stored, Outcome& outcome);
  void OnFailure(Queue& queue, std::span<const RowPtr> rows, const StepFailure& failure,
                 Outcome& outcome);
  void OnLeaseLost(Queue& queue, std::span<const RowPtr> rows);
  void OnFailedAlone(Queue& queue, const RowPtr& row, const StepFailure& failure, Outcome& outcome);
  bool StoreAsGone(Queue& queue, const RowPtr& row, Outcome& outcome);
  void StoreLater(Queue& queue, std::span<const RowPtr> rows);
  void KeepLocked(Queue& queue, std::span<const RowPtr> rows);
  void AssignBlame(Queue& queue, Outcome outcome);
  void BlameTable(Queue& queue);

  const Clock& clock_;
  Random& random_;
  Queues& queues_;
  InFlight& in_flight_;
  Leases& leases_;
  const Planner& planner_;
  Tally& tally_;
};

}  // namespace ai::pipeline
