// Stores rows whose vectors are there, in transactions that end soon, and finds out whose fault it
// is when that fails: rows that could not be stored together are tried in halves, and at last
// alone.
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

  /// Each owner has a part of the turn, so that nobody waits for all that another has to store.
  void Run();

  /// Stores what is ready of a queue, until a time.
  void StoreReady(Queue& queue, SteadyTime until);

 private:
  /// What became of rows that were to be stored together.
  struct Outcome {
    bool any = false;                      // some are
    std::vector<Unexplained> unexplained;  // are not, by their own fault or the table's
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
