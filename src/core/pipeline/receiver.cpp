#include "core/pipeline/receiver.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

/// INVARIANT: never shorter than the interval after which the breaker counts failures separately,
/// or a row that is retried would be charged before the breaker opens.
constexpr policy::Backoff kBetweenTries{milliseconds(1400), std::chrono::seconds(10)};

policy::Micros Micros(SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

}  // namespace

void Receiver::Run() {
  RunModel();
  for (InFlight::Ended& ended : in_flight_.Collect()) {
    Queue& queue = *ended.queue;
    if (queue.source == nullptr) {
      continue;  // all of its rows have ended meanwhile
    }
    if (ended.result) {
      OnReply(queue, std::move(ended.request), ended.result.value());
      in_flight_.Recycle(ended.result.value());
    } else {
      const Failure failure = queue.source->traits().provider->Explain(ended.result.failure());
      OnFailure(queue, std::move(ended.request), {}, failure);
    }
  }
}

void Receiver::RunModel() {
  if (!model_.busy()) {
    return;
  }
  Queue& queue = *model_.queue();
  auto done = model_.Advance();
  if (!done) {
    leases_.ReleaseAfterFailure(queue, "embedding", done.failure());
  } else if (const auto& batch = done.value()) {
    queue.meter.usage.truncated_chunks += batch->truncated;
    OnVectors(queue, batch->items, batch->embeddings);
  }
}

void Receiver::OnReply(Queue& queue, Request request, http::Response& response) {
  auto embeddings = std::make_shared<provider::Embeddings>();
  const auto parsed = queue.source->traits().provider->Parse(
      response, request.route.endpoint, request.items.size(), clock_.WallNow(), *embeddings);
  const auto limits = provider::ReadRateLimits(response.headers);
  if (!parsed) {
    OnFailure(queue, std::move(request), limits, parsed.failure());
    return;
  }
  queue.outbox.failing.Succeeded(request.permit->is_probe());
  request.permit->Succeeded(limits, embeddings->input_tokens);
  OnVectors(queue, request.items, embeddings);
}

void Receiver::OnVectors(Queue& queue, std::span<const Item> items,
                         const std::shared_ptr<provider::Embeddings>& embeddings) {
  queue.meter.usage.input_tokens += embeddings->input_tokens.value_or(0);
  queue.meter.usage.sent_chunks += static_cast<std::int64_t>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    Row& row = *items[i].row;
    if (row.ended) {
      continue;
    }
    VectorOf vector{embeddings, i};
    if (row.file != nullptr) {
      const auto number = row.file->Append((*embeddings)[i]);
      if (!number) {
        leases_.ReleaseAfterFailure(queue, "embedding", number.failure());
        return;
      }
      vector = {nullptr, number.value(), row.file};
    }
    items[i].get().vector = std::move(vector);
    if (--row.waiting == 0) {
      queue.held.Ready(items[i].row);
    }
  }
}

void Receiver::OnFailure(Queue& queue, Request request, const provider::RateLimits& limits,
                         const Failure& failure) {
  if (failure.failure_class == FailureClass::kInvalidReply && request.may_shrink &&
      request.items.size() > 1) {
    AskForLess(queue, std::move(request), limits, failure);
    return;
  }
  // Until a request itself has failed, its queue's history counts. Its rows are charged only for
  // what they were seen to fail with: the provider may have gone down since.
  const policy::FailingSince& failing =
      request.failures == 0 ? queue.outbox.failing : request.failing;
  const policy::Verdict verdict = request.permit->Failed(limits, failure, failing.time);
  request.permit.reset();
  // Any of the rows that have ended meanwhile may be at fault: the others are requested again.
  const bool is_unclear = request.RemoveEnded();
  if (request.items.empty()) {
    return;
  }
  if (failure.failure_class == FailureClass::kConfiguration) {
    OnUnusable(queue, failure);
  } else if (failure.failure_class == FailureClass::kDeferred || is_unclear) {
    queue.outbox.Delay(std::move(request), clock_.Now());
  } else if (failure.failure_class == FailureClass::kSuspect) {
    OnRefused(queue, std::move(request), failure);
  } else {
    OnTransient(queue, std::move(request), failure, verdict);
  }
}

/// The key, the model or the account is unusable.
void Receiver::OnUnusable(Queue& queue, const Failure& failure) {
  leases_.ReleaseAll(queue);
  leases_.BackOffFor(queue, "embedding", failure);
  if (!policy::IsOfEndpoint(failure)) {
    queue.back_off.until = clock_.Now() + settings_.breaker_pause;
  }
}

/// One of the texts was refused.
void Receiver::OnRefused(Queue& queue, Request request, const Failure& failure) {
  const std::vector<RowPtr> rows = request.Rows();
  if (rows.size() > 1) {
    tally_.Count(failure.message);
    Bisect(queue, std::move(request), milliseconds(0));
  } else {
    leases_.DeadLetter(queue, rows, "embedding", failure);
  }
}

/// The network, the provider or one of the rows is at fault: see core/policy/blame.hpp.
void Receiver::OnTransient(Queue& queue, Request request, const Failure& failure,
                           const policy::Verdict& verdict) {
  const SteadyTime now = clock_.Now();
  const std::vector<RowPtr> rows = request.Rows();
  policy::FailingSince& failing = queue.outbox.failing;
  ++request.failures;
  request.failing.Failed(Micros(now));
  failing.Failed(Micros(now));
  if (verdict.follows_rows) {
    failing.Blamed(Micros(now));
  }
  const policy::FailedRequest failed{failure.failure_class, rows.size(), request.failures, verdict};
  const policy::FailureAction sequel = policy::ActionAfter(failed);
  if (sequel != policy::FailureAction::kCharge) {
    tally_.Count(failure.message);
  }
  switch (sequel) {
    case policy::FailureAction::kRetry:
      queue.outbox.Delay(std::move(request), now + kBetweenTries.After(failed.failures, random_));
      return;
    case policy::FailureAction::kSplit:
      Bisect(queue, std::move(request),
             SplitsAtOnce(failed) ? milliseconds(0) : kBetweenTries.After(1, random_));
      return;
    case policy::FailureAction::kCharge:
      leases_.Charge(queue, rows, "embedding", failure);
      return;
    case policy::FailureAction::kRelease:
      // Other rows come first next time.
      leases_.NoteBreaker(queue);
      leases_.Release(queue, rows, kBehindOthers);
  }
}

/// The reply exceeds our own limit; one to fewer texts would not: neither a row nor the provider is
/// at fault. Further requests of the queue are limited to fewer texts.
void Receiver::AskForLess(Queue& queue, Request request, const provider::RateLimits& limits,
                          Failure failure) {
  failure.failure_class = FailureClass::kSuspect;
  request.permit->Failed(limits, failure, 0);
  request.permit.reset();
  tally_.Count(failure.message);
  const std::size_t half = request.items.size() / 2;
  queue.outbox.LimitBatch(half);
  Split(queue, std::move(request), half, milliseconds(0));
}

/// One of the rows is at fault: each half is sent separately, so that the others succeed.
void Receiver::Bisect(Queue& queue, Request request, milliseconds delay) {
  const std::vector<RowPtr> rows = request.Rows();
  const RowPtr& middle = rows[rows.size() / 2];
  const auto cut = std::find_if(request.items.begin(), request.items.end(),
                                [&](const Item& item) { return item.row == middle; });
  const auto items = static_cast<std::size_t>(cut - request.items.begin());
  Split(queue, std::move(request), items, delay);
}

void Receiver::Split(Queue& queue, Request request, std::size_t items, milliseconds delay) {
  Request rest = request.CutOff(request.items.begin() + static_cast<std::ptrdiff_t>(items));
  const SteadyTime not_before = clock_.Now() + delay;
  queue.outbox.Delay(std::move(request), not_before);
  queue.outbox.Delay(std::move(rest), not_before);
}

}  // namespace ai::pipeline
