#include "core/pipeline/pipeline.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

/// For how long rows that cannot be sent are held.
constexpr milliseconds kHold = std::chrono::seconds(5);
/// Idle queues whose source stays open.
constexpr std::size_t kMaxIdle = 64;

}  // namespace

Pipeline::Pipeline(const Effects& effects)
    : clock_(effects.clock),
      backlog_(effects.backlog),
      in_flight_(effects.transport, queues_.memory()),
      model_(effects.model),
      capacity_(effects.settings, in_flight_, model_, effects.peers),
      planner_(effects.settings, queues_, capacity_, effects.peers, model_),
      leases_(effects.clock, effects.random, effects.settings, effects.backlog, in_flight_, model_,
              capacity_, tally_),
      at_{.poller = {effects.clock, effects.settings, effects.backlog, effects.peers, queues_,
                     leases_},
          .claimer = {effects.clock, effects.backlog, effects.peers, queues_, capacity_, leases_,
                      planner_},
          .isolator = {effects.clock, effects.peers, queues_, leases_, at_.claimer, planner_},
          .sender = {effects.clock, queues_, in_flight_, model_, capacity_, leases_, planner_,
                     effects.interrupt},
          .receiver = {effects.clock, effects.random, effects.settings, in_flight_, model_, leases_,
                       tally_},
          .storer = {effects.clock, effects.random, queues_, in_flight_, leases_, planner_, tally_},
          .usage = {effects.clock, effects.settings, effects.backlog, queues_}} {}

/// Send the next requests before this process is busy storing.
void Pipeline::Turn() {
  at_.receiver.Run();
  ReleaseBlocked();
  at_.poller.Run();
  at_.isolator.Run();
  Claim();
  at_.sender.Run();
  at_.storer.Run();
  at_.usage.Report();
  for (auto& [id, queue] : queues_) {
    queue.outbox.RemoveEnded();
    capacity_.Free(queue);
  }
  ForgetIdle();
}

/// Claimed rows are sent immediately, so that their provider need not wait for other claims. A
/// probe is sent by the next queue in turn, once all have claimed.
void Pipeline::Claim() {
  while (Queue* queue = at_.claimer.Next()) {
    at_.claimer.Run(*queue);
    const auto& route = queue->outbox.route();
    while (route && !route->limiter->IsBreakerTripped() && at_.sender.SendOne(*queue)) {
    }
  }
}

/// Releases rows that cannot be sent for a while, so that a failing provider does not tie up
/// memory.
void Pipeline::ReleaseBlocked() {
  for (auto& [id, queue] : queues_) {
    const auto route = queue.outbox.route();
    if (!route || queue.source == nullptr || queue.outbox.in_flight() > 0 || queue.is_idle() ||
        queue.held.has_ready() || route->BlockedFor().value_or(milliseconds(0)) <= kHold) {
      continue;
    }
    const SteadyTime found = queue.outbox.route_found();
    leases_.ReleaseAll(queue);
    // They are not claimed again before they can be sent.
    queue.outbox.SetRoute(route, found);
  }
}

/// Idle queues are dropped, so that they cost nothing, however many there are.
void Pipeline::ForgetIdle() {
  const SteadyTime now = clock_.Now();
  std::size_t idle = 0;
  for (auto entry = queues_.begin(); entry != queues_.end();) {
    Queue& queue = entry->second;
    const bool is_done = queue.is_idle() && queue.demand.is_empty() && !queue.must_release &&
                         queue.meter.usage == Usage() && queue.poll.at == kNever &&
                         queue.back_off.until <= now && !planner_.isolating() &&
                         !queue.has_unreleased();
    if (is_done && (queue.source == nullptr || queue.is_job() || ++idle > kMaxIdle)) {
      backlog_.Closed(entry->first);
      entry = queues_.Erase(entry);
    } else {
      ++entry;
    }
  }
}

milliseconds Pipeline::NextWait(milliseconds most) const {
  const SteadyTime now = clock_.Now();
  if (model_.busy() || at_.isolator.IsDue()) {
    return milliseconds(0);
  }
  SteadyTime next = std::min(now + most, at_.poller.NextPoll(now));
  for (const auto& [id, queue] : queues_) {
    next = std::min(next, planner_.For(queue, now).Next());
  }
  return std::clamp(std::chrono::ceil<milliseconds>(next - now), milliseconds(0), most);
}

void Pipeline::EndBackOffs() {
  for (auto& [id, queue] : queues_) {
    queue.back_off.until = {};
  }
}

void Pipeline::Stop(milliseconds most) {
  const SteadyTime until = clock_.Now() + most;
  for (auto& [id, queue] : queues_) {
    if (queue.held.has_ready() && clock_.Now() < until) {
      at_.storer.StoreReady(queue, until);
    }
  }
  at_.usage.ReportAll();
  in_flight_.CancelAll();
  for (auto& [id, queue] : queues_) {
    // Rows that were just being stored are held, but in no stage.
    const bool has_rows = !queue.is_idle() || !queue.held.rows().empty() || queue.must_release;
    if (queue.source != nullptr && (has_rows || queue.has_unreleased())) {
      leases_.ReleaseAll(queue);
    }
  }
}

void Pipeline::ForgetAll() {
  for (auto& [id, queue] : queues_) {
    leases_.Forget(queue);
    queue.source.reset();
  }
}

InProgress Pipeline::CountInProgress() const {
  InProgress all{.requests = in_flight_.count() + (model_.busy() ? 1 : 0)};
  std::size_t most = 0;
  for (const auto& [id, queue] : queues_) {
    const std::size_t unread = queue.source != nullptr ? queue.source->unread().size() : 0;
    const std::size_t rows = queue.held.rows().size() + unread;
    all.rows += rows;
    if (rows > most) {
      most = rows;
      all.queue = queue.is_job() ? 0 : id;
    }
  }
  return all;
}

}  // namespace ai::pipeline
