#include "core/pipeline/sender.hpp"

#include "core/pipeline/claimer.hpp"

namespace ai::pipeline {

namespace {

/// Null if not known yet, or not needed.
const Limiter* LimiterOf(const Queue& queue) {
  const auto& route = queue.outbox.route();
  return route ? route->limiter : nullptr;
}

}  // namespace

/// Shares are per endpoint: what an owner sends to one does not count at another.
void Sender::Run() {
  std::map<const Limiter*, std::vector<Queue*>> queues;
  for (auto& [id, queue] : queues_) {
    SendDelayed(queue);
    if (queue.outbox.unsent() > 0) {
      queues[LimiterOf(queue)].push_back(&queue);
    }
  }
  for (auto& [limiter, of_endpoint] : queues) {
    const bool probes = limiter != nullptr && limiter->IsBreakerTripped();
    SendUnsent((probes ? probe_shares_ : shares_)[limiter], of_endpoint);
  }
  in_flight_.Drive();
}

void Sender::SendUnsent(policy::FairShare& share, std::vector<Queue*>& queues) {
  while (!queues.empty()) {
    Queue* next = NextOf(share, queues);
    if (!SendOne(*next)) {
      std::erase(queues, next);
    }
  }
}

void Sender::SendDelayed(Queue& queue) {
  const SteadyTime now = clock_.Now();
  for (Request& request : queue.outbox.TakeDelayed(now)) {
    request.RemoveEnded();
    if (request.items.empty()) {
      continue;
    }
    if (capacity_.HasRoom(queue, request)) {
      request.permit = request.route.limiter->Acquire(request.route.role);
    }
    if (!request.permit) {
      queue.outbox.Delay(std::move(request), now);
      continue;
    }
    // A probe contains one text only: if it fails, that is not the row's fault.
    if (request.permit->is_probe() && request.items.size() > 1) {
      queue.outbox.Delay(request.CutOff(request.items.begin() + 1), now);
    }
    Submit(queue, std::move(request));
  }
}

bool Sender::FindRoute(Queue& queue) {
  if (queue.outbox.route()) {
    return true;
  }
  auto route = queue.source->FindRoute();
  if (!route) {
    leases_.ReleaseAfterFailure(queue, "embedding", route.failure());
    return false;
  }
  queue.outbox.SetRoute(std::move(route).value(), clock_.Now());
  return true;
}

bool Sender::SendOne(Queue& queue) {
  const SteadyTime now = clock_.Now();
  if (queue.outbox.unsent() == 0 || planner_.Send(queue, now) > now) {
    return false;
  }
  const SourceTraits& source = queue.source->traits();
  if (source.provider == nullptr) {
    SendToModel(queue);
    return false;
  }
  if (capacity_.FreeFor(queue) == 0 || queue.outbox.used() >= queue.outbox.kept_requests ||
      !FindRoute(queue)) {
    return false;
  }
  const Route& route = *queue.outbox.route();
  auto permit = route.limiter->Acquire(route.role);
  if (!permit) {
    return false;
  }
  const bool is_probe = permit->is_probe();
  const std::size_t batch = is_probe ? 1 : queue.outbox.BatchSize(source);
  Request request{.items = queue.outbox.NextBatch(source, batch, interrupt_,
                                                  queue.meter.usage.truncated_chunks),
                  .route = route,
                  .permit = std::move(permit)};
  if (is_probe) {
    ChargeProbe(queue);
  } else {
    Charge(queue, request.items.size());
  }
  if (!request.items.empty()) {
    Submit(queue, std::move(request));
  }
  return queue.source != nullptr;
}

/// Suspects have their own turns, which are not charged to their owner's other rows.
void Sender::Charge(const Queue& queue, std::size_t texts) {
  if (!planner_.IsIsolated(queue)) {
    shares_[LimiterOf(queue)].Charge(queue.share, static_cast<double>(texts));
  }
}

/// What a probe finds out holds for all, so none takes precedence: queues have their turns whatever
/// their priorities, and whatever they have sent before the outage.
void Sender::ChargeProbe(const Queue& queue) {
  if (!planner_.IsIsolated(queue)) {
    probe_shares_[LimiterOf(queue)].Charge({.owner = queue.share.owner, .queue = queue.share.queue},
                                           1);
  }
}

void Sender::Submit(Queue& queue, Request request) {
  std::vector<std::string_view> texts;
  texts.reserve(request.items.size());
  std::size_t tokens = 0;
  for (const Item& item : request.items) {
    const Chunk& chunk = item.get();
    tokens += chunk.tokens;
    texts.push_back(std::string_view(chunk.text).substr(0, chunk.sent_bytes));
  }
  auto message = queue.source->Build(texts, request.route.endpoint);
  if (!message) {
    leases_.ReleaseAfterFailure(queue, "embedding", message.failure());
    return;
  }
  request.may_shrink = message->may_shrink;
  request.permit->Charge(tokens);
  ++queue.meter.usage.requests;
  in_flight_.Submit(queue, std::move(request), std::move(message->request));
}

void Sender::SendToModel(Queue& queue) {
  const SourceTraits& source = queue.source->traits();
  std::int64_t truncated = 0;
  std::vector<Item> items =
      queue.outbox.NextBatch(source, source.batch_size, interrupt_, truncated);
  if (!items.empty()) {
    ++queue.meter.usage.requests;
    Charge(queue, items.size());
    model_.Start(queue, std::move(items));
  }
}

}  // namespace ai::pipeline
