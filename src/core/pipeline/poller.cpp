#include "core/pipeline/poller.hpp"

#include <algorithm>

#include "core/policy/check_interval.hpp"

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

/// The pause after a poll of whole queues, as a multiple of its duration; and its minimum.
constexpr int kWholePollRest = 10;
constexpr milliseconds kShortestRest{200};
/// A full poll usually finds nothing.
constexpr milliseconds kLongestFullPollRest = std::chrono::minutes(1);

}  // namespace

void Poller::Notify(std::span<const QueueEvent> events) {
  events_.insert(events.begin(), events.end());
}

/// A full poll in progress may have passed the change already: another one follows.
void Poller::NotifyAll() {
  all_.wanted = true;
}

SteadyTime Poller::NextPoll(SteadyTime now) const {
  SteadyTime next = !events_.empty() || all_.wanted || all_.under_way ? now : all_.next;
  for (const auto& [id, queue] : queues_) {
    next = std::min(next, std::max(queue.poll.at, now));
  }
  if (whole_.wanted || whole_.under_way) {
    next = std::min(next, whole_.next);
  }
  return std::max(next, not_before_);
}

void Poller::Run() {
  const SteadyTime now = clock_.Now();
  if (NextPoll(now) > now) {
    return;
  }
  if (now >= all_.next && !all_.wanted && !all_.under_way) {
    all_.next = now + FullPollInterval();
    all_.wanted = peers_.BeginFullPoll(FullPollInterval());
  }
  if (!PollNamed()) {
    return;
  }
  if (all_.wanted || all_.under_way) {
    PollSlice();
  } else {
    PollWhole();
  }
}

milliseconds Poller::FullPollInterval() const {
  return policy::CheckInterval(all_.taken, settings_.poll_interval, kLongestFullPollRest);
}

/// False if not everything can be read now. Open queues are processed nevertheless: claiming checks
/// whether that is allowed.
bool Poller::Poll(const PollRequest& request, bool& complete, std::set<QueueId>* seen) {
  const PollResult result = backlog_.Poll(request);
  const SteadyTime now = clock_.Now();
  for (const QueueReport& report : result.queues) {
    Take(report, now);
    if (seen != nullptr) {
      seen->insert(report.id);
    }
  }
  for (auto& [id, queue] : queues_) {
    if (queue.source != nullptr &&
        std::find(result.named.begin(), result.named.end(), id) != result.named.end()) {
      queue.demand.NoteNamed();
    }
  }
  if (result.locked) {
    not_before_ = now + kLocked;
  }
  complete = result.complete;
  return !result.locked;
}

bool Poller::PollNamed() {
  PollRequest request{.suspects = KnowsSuspects(),
                      .queues = std::vector<QueueId>(),
                      .events = {events_.begin(), events_.end()}};
  const SteadyTime now = clock_.Now();
  for (auto& [id, queue] : queues_) {
    if (queue.poll.at <= now) {
      request.queues->push_back(id);
      queue.poll.at = kNever;
    }
  }
  if (request.events.empty() && request.queues->empty()) {
    return true;
  }
  bool complete = true;
  if (!Poll(request, complete, nullptr)) {
    for (const QueueId id : *request.queues) {
      queues_.Find(id).poll.Want();
    }
    return false;
  }
  events_.clear();
  return true;
}

void Poller::PollSlice() {
  const SteadyTime start = clock_.Now();
  if (!all_.under_way) {
    all_ = {.wanted = false, .under_way = true, .suspects = WantsSuspects()};
  }
  bool complete = true;
  const PollRequest request{.suspects = all_.suspects, .after = all_.after};
  if (!Poll(request, complete, &all_.seen)) {
    return;
  }
  const SteadyTime end = clock_.Now();
  all_.taken += end - start;
  if (complete) {
    all_.under_way = false;
    all_.next = end + FullPollInterval();
    ForgetUnseen(all_.seen);
    all_.seen.clear();
  } else {
    all_.after = *all_.seen.rbegin();
  }
}

/// Changes are first looked for at the end of a queue, where they are added, which is cheap; then
/// in the whole queue, at intervals proportional to the cost.
void Poller::PollWhole() {
  const SteadyTime start = clock_.Now();
  if (!(whole_.wanted || whole_.under_way) || start < whole_.next) {
    return;
  }
  if (!whole_.under_way) {
    whole_ = {.wanted = false, .under_way = true};
  }
  bool complete = true;
  std::set<QueueId> seen;
  const PollRequest request{.suspects = KnowsSuspects(), .whole = true, .after = whole_.after};
  if (!Poll(request, complete, &seen)) {
    return;
  }
  const SteadyTime end = clock_.Now();
  whole_.taken += end - start;
  if (complete) {
    whole_.under_way = false;
    whole_.next =
        end + std::max<SteadyTime::duration>(kShortestRest, kWholePollRest * whole_.taken);
  } else {
    whole_.after = *seen.rbegin();
  }
}

bool Poller::KnowsSuspects() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& entry) { return entry.second.demand.has_suspects(); });
}

/// Suspects are included after a crash and as long as some are known. Another worker may have held
/// some during the poll, so they are included from time to time as well.
bool Poller::WantsSuspects() {
  constexpr std::chrono::seconds kInterval{60};
  const std::uint32_t crash_count = peers_.Crashes();
  if (!KnowsSuspects() && crash_count == suspects_.crashes_seen && clock_.Now() < suspects_.next) {
    return false;
  }
  suspects_ = {crash_count, clock_.Now() + kInterval};
  return true;
}

/// No row is finished under an old definition, or for an owner who no longer wants it.
void Poller::Take(const QueueReport& report, SteadyTime now) {
  Queue& queue = queues_.Find(report.id);
  if (report.version != queue.version) {
    leases_.Drop(queue);
    queue.version = report.version;
    queue.back_off = {};
    queue.outbox.failing = {};
  }
  queue.share = {report.owner, report.id, report.priority, report.granted};
  if (report.locked) {
    queue.poll.PutOff(now);
    return;
  }
  queue.poll.pause = {};
  queue.demand.Report(report, now);
  whole_.wanted = whole_.wanted || !report.whole;
  if (queue.demand.is_paused(now)) {
    leases_.ReleaseUnstarted(queue);
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
