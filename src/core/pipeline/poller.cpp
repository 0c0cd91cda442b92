#include "core/pipeline/poller.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

/// Times what a poll of whole queues takes, until the next one.
constexpr int kWholePollRest = 10;

}  // namespace

void Poller::Notify(std::span<const QueueEvent> events) {
  events_.insert(events.begin(), events.end());
}

/// One that is under way may have passed what has changed: another follows.
void Poller::NotifyAll() {
  all_.wanted = true;
}

SteadyTime Poller::NextPoll(SteadyTime now) const {
  const bool named =
      !events_.empty() || std::any_of(queues_.begin(), queues_.end(),
                                      [](const auto& e) { return e.second.poll_wanted; });
  SteadyTime next = named || all_.wanted || all_.under_way ? now : all_.next;
  if (whole_.wanted) {
    next = std::min(next, whole_.next);
  }
  return std::max(next, not_before_);
}

bool Poller::Run() {
  const SteadyTime now = clock_.Now();
  if (NextPoll(now) > now) {
    return false;
  }
  if (now >= all_.next && !all_.wanted && !all_.under_way) {
    all_.next = now + settings_.poll_interval;
    all_.wanted = peers_.BeginFullPoll(settings_.poll_interval);
  }
  return PollNamed() && (all_.wanted || all_.under_way ? PollSlice() : PollWhole());
}

/// False if nothing can be read now.
bool Poller::Poll(const PollRequest& request, bool& complete, std::set<QueueId>* seen) {
  const auto result = backlog_.Poll(request);
  const SteadyTime now = clock_.Now();
  if (!result) {
    not_before_ = now + kLocked;
    return false;
  }
  for (const QueueReport& report : result.value().queues) {
    Take(report, now);
    if (seen != nullptr) {
      seen->insert(report.id);
    }
  }
  complete = result.value().complete;
  return true;
}

bool Poller::PollNamed() {
  PollRequest request{.suspects = KnowsSuspects(),
                      .queues = std::vector<QueueId>(),
                      .events = {events_.begin(), events_.end()}};
  for (auto& [id, queue] : queues_) {
    if (queue.poll_wanted) {
      request.queues->push_back(id);
    }
  }
  if (request.events.empty() && request.queues->empty()) {
    return true;
  }
  bool complete = true;
  if (!Poll(request, complete, nullptr)) {
    return false;
  }
  events_.clear();
  for (const QueueId id : *request.queues) {
    queues_.Find(id).poll_wanted = false;
  }
  return true;
}

bool Poller::PollSlice() {
  if (!all_.under_way) {
    all_ = {.wanted = false,
            .under_way = true,
            .suspects = WantsSuspects(),
            .next = clock_.Now() + settings_.poll_interval};
  }
  bool complete = true;
  const PollRequest request{.suspects = all_.suspects, .after = all_.after};
  if (!Poll(request, complete, &all_.seen)) {
    return false;
  }
  if (complete) {
    all_.under_way = false;
    ForgetUnseen(all_.seen);
    all_.seen.clear();
  } else {
    all_.after = *all_.seen.rbegin();
  }
  return true;
}

/// A change is first looked for where changes are added, which takes no time; then everywhere, but
/// not more often than that is worth.
bool Poller::PollWhole() {
  const SteadyTime start = clock_.Now();
  if (!whole_.wanted || start < whole_.next) {
    return true;
  }
  whole_.wanted = false;
  bool complete = true;
  QueueId after = 0;
  do {
    std::set<QueueId> seen;
    const PollRequest request{.suspects = KnowsSuspects(), .whole = true, .after = after};
    if (!Poll(request, complete, &seen)) {
      whole_.wanted = true;
      return false;
    }
    after = seen.empty() ? after : *seen.rbegin();
  } while (!complete);
  whole_.next = clock_.Now() + kWholePollRest * (clock_.Now() - start);
  return true;
}

bool Poller::KnowsSuspects() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& entry) { return entry.second.demand.has_suspects(); });
}

/// There are suspects after a death, and as long as they are known to be there. Some may have been
/// with another worker when they were looked for; so now and then all the same.
bool Poller::WantsSuspects() {
  constexpr std::chrono::seconds kInterval{60};
  const std::uint32_t deaths = peers_.Deaths();
  if (!KnowsSuspects() && deaths == suspects_.deaths_seen && clock_.Now() < suspects_.next) {
    return false;
  }
  suspects_ = {deaths, clock_.Now() + kInterval};
  return true;
}

/// Nothing is finished by an old definition, or for one who does not want it any more.
void Poller::Take(const QueueReport& report, SteadyTime now) {
  Queue& queue = queues_.Find(report.id);
  if (report.version != queue.version) {
    leases_.Drop(queue);
    queue.version = report.version;
    queue.back_off = {};
    queue.outbox.failing = {};
  }
  queue.share = {report.owner, report.id, report.priority, report.granted};
  queue.demand.Report(report, now);
  whole_.wanted = whole_.wanted || !report.whole;
  if (queue.demand.is_paused(now)) {
    // Others, or this worker after the pause, begin with them.
    const std::vector<RowPtr> rows = queue.outbox.TakeUnbegun();
    if (!rows.empty()) {
      leases_.Release(queue, rows, std::chrono::milliseconds(0));
    }
  }
}

void Poller::ForgetUnseen(const std::set<QueueId>& seen) {
  for (auto entry = queues_.begin(); entry != queues_.end();) {
    Queue& queue = entry->second;
    if (queue.is_job() || seen.contains(entry->first)) {
      ++entry;
      continue;
    }
    leases_.Drop(queue);
    if (queue.must_release) {
      ++entry;
    } else {
      backlog_.Closed(entry->first);
      entry = queues_.Erase(entry);
    }
  }
}

}  // namespace ai::pipeline
