#include "core/pipeline/leases.hpp"

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

// What was embedded before an error in storing is embedded again after each time.
constexpr policy::Backoff kBackOff{std::chrono::seconds(10), std::chrono::minutes(1)};

}  // namespace

void Leases::Release(Queue& queue, std::span<const RowPtr> rows, milliseconds delay) {
  const auto released = queue.source->Release(rows, delay);
  queue.hand.End(rows);
  queue.poll.Want();
  if (!released) {
    LetGo(queue, "embedding", released.failure());
  }
}

void Leases::ReleaseUnbegun(Queue& queue) {
  if (queue.has_unread()) {
    queue.poll.Want();
    if (const auto released = queue.source->ReleaseUnread(0); !released) {
      LetGo(queue, "loading", released.failure());
      return;
    }
  }
  queue.outbox.PutBack(model_.TakeUnbegun(queue));
  if (const std::vector<RowPtr> rows = queue.outbox.TakeUnbegun(); !rows.empty()) {
    Release(queue, rows, milliseconds(0));
  }
}

void Leases::Charge(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
                    const Failure& failure) {
  tally_.Count(failure.message);
  const auto charged = queue.source->Retry(rows, step, failure);
  queue.hand.End(rows);
  queue.poll.Want();
  if (!charged) {
    LetGo(queue, step, charged.failure());
  }
}

void Leases::DeadLetter(Queue& queue, std::span<const RowPtr> rows, std::string_view step,
                        const Failure& failure) {
  tally_.Count(failure.message);
  const auto ended = queue.source->DeadLetter(rows, step, failure);
  queue.hand.End(rows);
  queue.demand.NoteChanges();  // what came for these rows meanwhile was passed over
  if (!ended) {
    LetGo(queue, step, ended.failure());
  }
}

void Leases::Forget(Queue& queue) {
  in_flight_.Cancel(queue);
  model_.Cancel(queue);
  queue.hand.Clear();
  queue.outbox.Clear();
  capacity_.FreeAll(queue);
  queue.must_release = queue.must_release || queue.source != nullptr;
}

/// False if it has to be tried again.
bool Leases::TryReleaseAll(Queue& queue) {
  const auto released = queue.source->ReleaseAll();
  // The rows of a queue that was dropped are gone with it.
  queue.must_release = !released && released.failure().trouble != StepTrouble::kDropped;
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

void Leases::OnTrouble(Queue& queue, std::string_view step, const StepFailure& failure) {
  switch (failure.trouble) {
    case StepTrouble::kTableLocked:
      queue.back_off.AtLeast(clock_.Now() + queue.storage.NextLockPause(random_));
      return;
    case StepTrouble::kLeaseLost:
    case StepTrouble::kTableGone:
    case StepTrouble::kOutdated:
    case StepTrouble::kYielded:
      Drop(queue);
      return;
    case StepTrouble::kRowLocked:
      Drop(queue);
      queue.back_off.AtLeast(clock_.Now() + kLocked);
      return;
    case StepTrouble::kDropped:
      Drop(queue);
      queue.must_release = false;
      break;
    default:
      Drop(queue);
  }
  BackOffFor(queue, step, failure);
}

void Leases::LetGo(Queue& queue, std::string_view step, const StepFailure& failure) {
  OnTrouble(queue, step, failure);
  if (queue.source != nullptr) {
    Drop(queue);
  }
}

}  // namespace ai::pipeline
