// Ends the leases of rows, in whichever way, and applies the consequences to their queue.
#pragma once

#include "core/pipeline/capacity.hpp"

namespace ai::pipeline {

class Leases final {
 public:
  Leases(const Clock& clock, Random& random, const Settings& settings, Backlog& backlog,
         InFlight& in_flight, ModelRunner& model, Capacity& capacity, Tally& tally)
      : clock_(clock),
        random_(random),
        settings_(settings),
        backlog_(backlog),
        in_flight_(in_flight),
        model_(model),
        capacity_(capacity),
        tally_(tally) {}

  /// Releases rows uncharged; other workers may claim them after the delay.
  void Release(Queue& queue, std::span<const RowPtr> rows, std::chrono::milliseconds delay);
  /// Releases rows that were neither sent nor computed yet: they are claimed again after the pause.
  void ReleaseUnstarted(Queue& queue);
  /// Charges an attempt.
  void Charge(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
              const Failure& failure);
  /// They will not be retried.
  void DeadLetter(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
                  const Failure& failure);

  /// Releases all rows of a queue that are held; its source stays open.
  void ReleaseAll(Queue& queue);
  /// The same, and closes the source. Rows that cannot be released now are when it is opened again.
  void Drop(Queue& queue);
  /// Forgets all rows held, in memory only.
  void Forget(Queue& queue);

  /// Backs off from the queue; a new error is recorded.
  void BackOffFor(Queue& queue, std::string_view step, const Failure& failure);
  /// Records once per opening that an open circuit breaker holds back the queue's requests.
  void NoteBreaker(Queue& queue);
  /// A step of the queue has failed and may be retried.
  void OnStepFailure(Queue& queue, std::string_view step, const StepFailure& failure);
  /// The same for a step after which rows could not make progress: all are released.
  void ReleaseAfterFailure(Queue& queue, std::string_view step, const StepFailure& failure);

 private:
  bool TryReleaseAll(Queue& queue);

  const Clock& clock_;
  Random& random_;
  const Settings& settings_;
  Backlog& backlog_;
  InFlight& in_flight_;
  ModelRunner& model_;
  Capacity& capacity_;
  Tally& tally_;
};

}  // namespace ai::pipeline
