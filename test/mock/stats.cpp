// stats.cpp: what happened so far, and waiting for it to happen.
#include "mock/stats.hpp"

#include <algorithm>
#include <utility>

#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

constexpr size_t kMaxPaths = 256;                 // more than that is one path, "(others)"
constexpr size_t kLongestBody = size_t{1} << 20;  // of a remembered request

}  // namespace

void Stats::ConnectionOpened() {
  const std::lock_guard lock(mutex_);
  ++counters_.connections;
  ++counters_.open;
  counters_.most_open = std::max(counters_.most_open, counters_.open);
  WakeWaiters();
}

void Stats::ConnectionClosed() {
  const std::lock_guard lock(mutex_);
  --counters_.open;
  WakeWaiters();
}

void Stats::TlsFailed() {
  const std::lock_guard lock(mutex_);
  ++counters_.tls_failures;
  WakeWaiters();
}

void Stats::BadRequest() {
  const std::lock_guard lock(mutex_);
  ++counters_.bad_requests;
  WakeWaiters();
}

void Stats::CountText(uint64_t hash) {
  const uint32_t times = ++seen_[hash];
  counters_.distinct_texts += times == 1 ? 1 : 0;
  counters_.repeated_texts += times == 2 ? 1 : 0;
  counters_.repeats += times > 1 ? 1 : 0;
}

void Stats::Remember(Request request, size_t items) {
  auto path = by_path_.find(request.path);
  if (path == by_path_.end()) {
    const bool full = by_path_.size() >= kMaxPaths;
    path = by_path_.try_emplace(full ? std::string("(others)") : request.path).first;
  }
  ++path->second.requests;
  path->second.items += items;
  path->second.last_body_bytes = request.body.size();
  if (request.body.size() > kLongestBody) {
    request.body.resize(kLongestBody);
    request.body.shrink_to_fit();
  }
  path->second.last = std::move(request);
}

uint64_t Stats::RequestArrived(Request request, const std::vector<std::string>& texts,
                               uint64_t tokens) {
  // Before the lock, for texts may be long.
  std::vector<uint64_t> hashes(texts.size());
  std::transform(texts.begin(), texts.end(), hashes.begin(), HashText);
  const std::lock_guard lock(mutex_);
  ++counters_.requests;
  counters_.items += texts.size();
  counters_.tokens += tokens;
  ++counters_.in_flight;
  counters_.most_in_flight = std::max(counters_.most_in_flight, counters_.in_flight);
  for (const uint64_t hash : hashes) {
    CountText(hash);
  }
  const std::string_view key = request.BearerKey();
  if (!key.empty()) {
    const auto known = by_key_.find(key);
    ++(known == by_key_.end() ? by_key_[std::string(key)] : known->second);
  }
  Remember(std::move(request), texts.size());
  WakeWaiters();
  return epoch_;
}

void Stats::ReplyStarted(uint64_t epoch, int status) {
  const std::lock_guard lock(mutex_);
  if (epoch == epoch_) {
    ++by_status_[status];
  }
}

void Stats::EndFlight(uint64_t epoch, uint64_t Counters::*how) {
  const std::lock_guard lock(mutex_);
  --counters_.in_flight;
  if (epoch == epoch_) {
    ++(counters_.*how);
  }
  WakeWaiters();
}

void Stats::ReplyFinished(uint64_t epoch) {
  EndFlight(epoch, &Counters::replies);
}

void Stats::Dropped(uint64_t epoch) {
  EndFlight(epoch, &Counters::dropped);
}

void Stats::Aborted(uint64_t epoch) {
  EndFlight(epoch, &Counters::aborted);
}

void Stats::HangStarted() {
  const std::lock_guard lock(mutex_);
  ++counters_.hanging;
  WakeWaiters();
}

void Stats::HangEnded() {
  const std::lock_guard lock(mutex_);
  --counters_.hanging;
  WakeWaiters();
}

void Stats::Reset() {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  Counters now;
  now.open = now.most_open = counters_.open;
  now.in_flight = now.most_in_flight = counters_.in_flight;
  now.hanging = counters_.hanging;
  counters_ = now;
  by_status_.clear();
  by_path_.clear();
  by_key_.clear();
  seen_.clear();
}

uint64_t Stats::Wait(Condition condition, std::function<void()> reached) {
  const std::lock_guard lock(mutex_);
  if (condition.Holds(counters_)) {
    return 0;
  }
  waiters_.push_back({++last_waiter_, std::move(condition), std::move(reached)});
  return last_waiter_;
}

bool Stats::StopWaiting(uint64_t waiter) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(waiters_, [&](const Waiter& w) { return w.id == waiter; }) > 0;
}

// INVARIANT: called with the lock held after every change that a condition can be about; `reached`
// only posts to a worker and never comes back here.
void Stats::WakeWaiters() {
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    const bool holds = waiter.condition.Holds(counters_);
    if (holds) {
      waiter.reached();
    }
    return holds;
  });
}

}  // namespace ai::mock
