// Ending the hold on rows, by whatever way, and what follows for their queue.
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

  /// Uncharged; others may claim them after the delay.
  void Release(Queue& queue, std::span<const RowPtr> rows, std::chrono::milliseconds delay);
  /// What nobody has begun with, by a model or a provider: after a pause, this worker or another
  /// does.
  void ReleaseUnbegun(Queue& queue);
  /// An attempt is charged.
  void Charge(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
              const Failure& failure);
  /// Nobody shall try them again.
  void DeadLetter(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
                  const Failure& failure);

  /// Releases all that is in hand for a queue, which goes on by its source.
  void ReleaseAll(Queue& queue);
  /// The same, and closes the source. What cannot be released now is when it is opened again.
  void Drop(Queue& queue);
  /// Lets go of all that is in hand, in memory only.
  void Forget(Queue& queue);

  /// The queue cannot go on for a while; an error that is new is recorded.
  void BackOffFor(Queue& queue, std::string_view step, const Failure& failure);
  /// That an open circuit breaker keeps its requests from going is recorded once for each opening.
  void NoteBreaker(Queue& queue);
  /// A step of the queue has failed, and may be tried again.
  void OnTrouble(Queue& queue, std::string_view step, const StepFailure& failure);
  /// The same for a step without which rows would be held for ever: all are released.
  void LetGo(Queue& queue, std::string_view step, const StepFailure& failure);

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
