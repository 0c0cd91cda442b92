#include "core/pipeline/leases.hpp"

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

// Rows that could not be stored are embedded again on each retry.
constexpr policy::Backoff kBackOff{std::chrono::seconds(10), std::chrono::minutes(1)};

}  // namespace

void Leases::Release(Queue& queue, std::span<const RowPtr> rows, milliseconds delay) {
  const auto released = queue.source->Release(rows, delay);
  queue.held.End(rows);
  queue.poll.Want();
  if (!released) {
    ReleaseAfterFailure(queue, "embedding", released.failure());
  }
}

void Leases::ReleaseUnstarted(Queue& queue) {
  if (queue.has_unread()) {
    queue.poll.Want();
    if (const auto released = queue.source->ReleaseUnread(0); !released) {
      ReleaseAfterFailure(queue, "loading", released.failure());
      return;
    }
  }
  queue.outbox.PutBack(model_.TakeUnstarted(queue));
  if (const std::vector<RowPtr> rows = queue.outbox.TakeUnstarted(); !rows.empty()) {
    Release(queue, rows, milliseconds(0));
  }
}

void Leases::Charge(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
                    const Failure& failure) {
  tally_.Count(failure.message);
  const auto charged = queue.source->Retry(rows, step, failure);
  queue.held.End(rows);
  queue.poll.Want();
  if (!charged) {
    ReleaseAfterFailure(queue, step, charged.failure());
  }
}

void Leases::DeadLetter(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
                        const Failure& failure) {
  tally_.Count(failure.message);
  const auto ended = queue.source->DeadLetter(rows, step, failure);
  queue.held.End(rows);
  queue.demand.NoteChanges();  // changes of these rows were skipped meanwhile
  if (!ended) {
    ReleaseAfterFailure(queue, step, ended.failure());
  }
}

void Leases::Forget(Queue& queue) {
  in_flight_.Cancel(queue);
  model_.Cancel(queue);
  queue.held.Clear();
  queue.outbox.Clear();
  capacity_.FreeAll(queue);
  queue.must_release = queue.must_release || queue.source != nullptr;
}

/// False if it has to be retried.
bool Leases::TryReleaseAll(Queue& queue) {
  const auto released = queue.source->ReleaseAll();
  // The rows of a dropped queue were dropped with it.
  queue.must_release = !released && released.failure().error != StepError::kDropped;
  queue.poll.Want();
  return !queue.must_release;
}

void Leases::ReleaseAll(Queue& queue) {
  Forget(queue);
  if (queue.source != nullptr && !TryReleaseAll(queue)) {
    queue.source.reset();
    queue.back_off.AtLeast(clock_.Now() + kLocked);
  }
}

void Leases::Drop(Queue& queue) {
  ReleaseAll(queue);
  queue.source.reset();
}

void Leases::BackOffFor(Queue& queue, std::string_view step, const Failure& failure) {
  tally_.Count(failure.message);
  BackOff& back_off = queue.back_off;
  back_off.until =
      clock_.Now() + std::min(kBackOff.After(++back_off.times, random_), settings_.breaker_pause);
  if (failure.message != back_off.last_error) {
    const bool recorded = backlog_.RecordError(queue.id, step, failure).ok();
    back_off.last_error = recorded ? failure.message : "";
  }
}

void Leases::NoteBreaker(Queue& queue) {
  const auto& route = queue.outbox.route();
  const auto opening = route ? route->limiter->Opened() : std::nullopt;
  if (opening && opening->since != queue.back_off.opening &&
      backlog_.RecordOpenBreaker(queue.id, *opening)) {
    queue.back_off.opening = opening->since;
  }
}

void Leases::OnStepFailure(Queue& queue, std::string_view step, const StepFailure& failure) {
  switch (failure.error) {
    case StepError::kTableLocked:
      queue.back_off.AtLeast(clock_.Now() + queue.storage.NextLockPause(random_));
      return;
    case StepError::kLeaseLost:
    case StepError::kTableGone:
    case StepError::kOutdated:
    case StepError::kYielded:
      Drop(queue);
      return;
    case StepError::kRowLocked:
      Drop(queue);
      queue.back_off.AtLeast(clock_.Now() + kLocked);
      return;
    case StepError::kDropped:
      Drop(queue);
      queue.must_release = false;
      break;
    default:
      Drop(queue);
  }
  BackOffFor(queue, step, failure);
}

void Leases::ReleaseAfterFailure(Queue& queue, std::string_view step, const StepFailure& failure) {
  OnStepFailure(queue, step, failure);
  if (queue.source != nullptr) {
    Drop(queue);
  }
}

}  // namespace ai::pipeline
