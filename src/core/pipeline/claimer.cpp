#include "core/pipeline/claimer.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoRequests{200};  // while other workers have reserved all of a queue

}  // namespace

Queue* NextOf(policy::FairShare& share, std::span<Queue* const> queues) {
  const auto is_failing_at = [](const Queue& queue, const Limiter* limiter, bool failing) {
    const auto& route = queue.outbox.route();
    return (queue.outbox.failing.time != 0) == failing && route && route->limiter == limiter;
  };
  const auto waits_for_others = [&](const Queue& queue) {
    const auto& route = queue.outbox.route();
    return route && is_failing_at(queue, route->limiter, true) &&
           route->limiter->IsBreakerTripped() &&
           std::any_of(queues.begin(), queues.end(), [&](const Queue* other) {
             return is_failing_at(*other, route->limiter, false);
           });
  };
  std::vector<policy::Contender> contenders;
  std::vector<Queue*> contending;
  for (Queue* queue : queues) {
    if (!waits_for_others(*queue)) {
      contending.push_back(queue);
      contenders.push_back(queue->share);
    }
  }
  const auto next = share.Next(contenders);
  return next ? contending[*next] : nullptr;
}

Queue* Claimer::Next() {
  const SteadyTime now = clock_.Now();
  std::vector<Queue*> due;
  for (auto& [id, queue] : queues_) {
    if (planner_.Claim(queue, now) <= now) {
      due.push_back(&queue);
    }
  }
  return NextOf(share_, due);
}

Queue* Claimer::NextWithSuspects() {
  const SteadyTime now = clock_.Now();
  std::vector<Queue*> due;
  for (auto& [id, queue] : queues_) {
    if (planner_.Suspects(queue, now) <= now) {
      due.push_back(&queue);
    }
  }
  return NextOf(suspects_share_, due);
}

bool Claimer::Open(Queue& queue) {
  if (queue.source != nullptr) {
    return true;
  }
  auto opened = backlog_.Open(queue.id);
  if (!opened) {
    leases_.OnStepFailure(queue, "configuration", opened.failure());
    return false;
  }
  queue.source = std::move(opened).value();
  if (queue.source == nullptr) {
    queue.demand.Clear();
    queue.must_release = false;
    return false;
  }
  queue.share.owner = queue.source->traits().owner;
  queue.meter.model = queue.source->traits().model;
  return true;
}

/// The route is looked up once per claim. A queue whose key is not available may still claim rows:
/// some need no request, and for the others the error is raised when they are sent.
void Claimer::FindRoute(Queue& queue) {
  if (queue.source->traits().provider != nullptr) {
    auto route = queue.source->FindRoute();
    queue.outbox.SetRoute(route ? std::optional(std::move(route).value()) : std::nullopt,
                          clock_.Now());
  }
}

SteadyTime Claimer::NextClaim() const {
  const SteadyTime now = clock_.Now();
  SteadyTime next = kNever;
  for (const auto& [id, queue] : queues_) {
    next = std::min(next, planner_.Claim(queue, now));
  }
  return next;
}

/// No more than can be sent soon and fit into memory.
std::size_t Claimer::RowsFor(const Queue& queue) const {
  const std::size_t batch = queue.outbox.BatchSize(queue.source->traits());
  std::size_t requests = queue.outbox.kept_requests - queue.outbox.used();
  if (queue.outbox.route()) {
    requests = std::min(requests, queue.outbox.route()->limiter->RequestsWithin(kAhead));
  }
  const double by_size = queue.row_bytes > 0 ? kMaxLoadBytes / queue.row_bytes : kMaxClaim;
  return std::max<std::size_t>(
      1, std::min({requests * batch, kMaxClaim, static_cast<std::size_t>(by_size)}));
}

void Claimer::Run(Queue& queue) {
  ++claims_;
  if (!Open(queue)) {
    share_.Charge(queue.share, 0);
    return;
  }
  if (queue.must_release) {
    leases_.Drop(queue);
    share_.Charge(queue.share, 0);
    return;
  }
  const std::size_t held = queue.held.rows().size() + queue.source->unread().size();
  const std::size_t used = queue.outbox.used();
  if (!queue.has_unread()) {
    FindRoute(queue);
  }
  if (const SteadyTime now = clock_.Now(); planner_.Claim(queue, now) > now) {
    share_.Charge(queue.share, 0);
    --claims_;  // nothing could be sent soon
    leases_.NoteBreaker(queue);
    return;
  }
  if (capacity_.Keep(queue, used + capacity_.FreeFor(queue)) <= used) {
    queue.back_off.AtLeast(clock_.Now() + kNoRequests);
    share_.Charge(queue.share, 0);
    return;
  }
  ClaimRequest request = queue.demand.NextRequest(clock_.Now(), queue.has_unreleased());
  request.most = RowsFor(queue);
  if (queue.has_unread() || Claim(queue, request)) {
    Load(queue);
  }
  const std::size_t unread = queue.source != nullptr ? queue.source->unread().size() : 0;
  share_.Charge(queue.share,
                static_cast<double>(queue.held.rows().size() + unread) - static_cast<double>(held));
}

/// False if there are no rows to load.
bool Claimer::Claim(Queue& queue, ClaimRequest request) {
  request.in_progress = !queue.is_idle();
  const auto claimed = queue.source->Claim(request);
  if (!claimed) {
    leases_.OnStepFailure(queue, "loading", claimed.failure());
    return false;
  }
  const bool found = queue.has_unread();
  EndLost(queue);
  queue.demand.OnClaimed(claimed.value(), request.wanted, found, clock_.Now());
  if (request.wanted != Wanted::kChanges) {
    queue.poll.Want();
  }
  queue.share.priority = claimed->priority.value_or(queue.share.priority);
  queue.meter.usage += claimed->usage;
  return found;
}

/// If a tid is claimed again while this process still holds a row with that tid, it has lost the
/// lease of that row (no heartbeat for too long), and the tid is another row's now. A reply for the
/// first one must not be stored there.
void Claimer::EndLost(Queue& queue) {
  if (queue.is_job() || queue.held.rows().empty()) {
    return;
  }
  std::vector<Tid> claimed(queue.source->unread().begin(), queue.source->unread().end());
  std::sort(claimed.begin(), claimed.end());
  std::vector<RowPtr> lost;
  std::copy_if(queue.held.rows().begin(), queue.held.rows().end(), std::back_inserter(lost),
               [&](const RowPtr& row) {
                 return std::binary_search(claimed.begin(), claimed.end(), row->tid);
               });
  queue.held.End(lost);
}

/// If rows are large, those that exceed one load are released for other workers.
void Claimer::Load(Queue& queue) {
  auto loaded = queue.source->Load(kMaxLoadBytes);
  if (!loaded) {
    leases_.OnStepFailure(queue, "loading", loaded.failure());
    return;
  }
  std::size_t bytes = 0;
  for (const LoadedRow& row : loaded.value()) {
    bytes += row.size;
  }
  if (!loaded->empty()) {
    queue.row_bytes = static_cast<double>(bytes) / static_cast<double>(loaded->size());
  }
  const std::size_t keep = loaded->size();
  if (queue.source->unread().size() > keep) {
    if (const auto released = queue.source->ReleaseUnread(keep); !released) {
      leases_.ReleaseAfterFailure(queue, "loading", released.failure());
      return;
    }
    queue.poll.Want();
    peers_.Share(queue.id);
  }
  Accept(queue, std::move(loaded).value());
}

void Claimer::Accept(Queue& queue, std::vector<LoadedRow> loaded) {
  std::vector<RowPtr> rows;
  for (LoadedRow& row : loaded) {
    auto chunks = row.problem.empty()
                      ? queue.source->MakeChunks(row)
                      : Result<RowPtr>(Failure{.failure_class = FailureClass::kSuspect,
                                               .message = row.problem});
    row.text.reset();  // frees memory: it may be long
    if (chunks) {
      rows.push_back(std::move(chunks).value());
      continue;
    }
    const RowPtr bad[] = {
        std::make_shared<Row>(Row{.tid = row.tid, .ended = true, .jobs = {{row.job, row.tid}}})};
    leases_.DeadLetter(queue, bad, row.problem.empty() ? "chunking" : "loading", chunks.failure());
    if (queue.source == nullptr) {
      return;  // everything claimed has been released
    }
  }
  const auto reused = queue.source->Reuse(queue.held.rows(), rows);
  if (!reused) {
    leases_.ReleaseAfterFailure(queue, "loading", reused.failure());
    return;
  }
  queue.meter.usage.reused_chunks += reused.value();
  for (const RowPtr& row : rows) {
    queue.held.Add(row);
    queue.meter.usage.reused_chunks += queue.outbox.Add(row);
    if (row->waiting == 0) {
      queue.held.Ready(row);
    }
  }
}

bool Claimer::ClaimSuspects(Queue& queue) {
  if (!Open(queue) || queue.must_release) {
    return false;
  }
  FindRoute(queue);
  const SteadyTime now = clock_.Now();
  if (planner_.Suspects(queue, now) > now || capacity_.Keep(queue, capacity_.FreeFor(queue)) == 0 ||
      !Claim(queue, {.wanted = Wanted::kSuspects})) {
    return false;
  }
  suspects_share_.Charge(queue.share, static_cast<double>(queue.source->unread().size()));
  Load(queue);
  return true;
}

}  // namespace ai::pipeline
