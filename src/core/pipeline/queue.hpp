// What a worker knows of one queue, and the rows it holds of it.
#pragma once

#include <algorithm>
#include <map>

#include "core/pipeline/held_rows.hpp"
#include "core/pipeline/outbox.hpp"
#include "core/pipeline/settings.hpp"
#include "core/policy/backoff.hpp"
#include "core/policy/store_budget.hpp"

namespace ai::pipeline {

/// Back-off of a queue that cannot make progress.
struct BackOff {
  SteadyTime until = {};
  int times = 0;             // since rows were last stored
  std::string last_error;    // recorded already
  std::int64_t opening = 0;  // of a circuit breaker, recorded already

  void AtLeast(SteadyTime time) { until = std::max(until, time); }
};

/// The state of storing.
struct StoreState {
  SteadyTime after = {};  // a table to be written is locked
  int locks_met = 0;      // since rows were last stored
  SteadyTime last_at = {};
  std::uint64_t stores = 0;  // successful ones
  policy::StoreBudget budget = {};

  /// How long to wait before retrying a locked table.
  std::chrono::milliseconds NextLockPause(Random& random) {
    constexpr policy::Backoff kPause{std::chrono::seconds(1), std::chrono::seconds(8)};
    return kPause.After(++locks_met, random);
  }
};

/// Usage not yet added to the database.
struct UsageMeter {
  Usage usage = {};
  std::string model = {};  // whose usage it is
  SteadyTime report_after = {};
};

/// When to poll a single queue: its due times have changed, or its tables were locked, perhaps only
/// for the duration of a commit.
struct OwnPoll {
  SteadyTime at = kNever;
  std::chrono::milliseconds pause{0};

  void Want() { at = {}; }
  void PutOff(SteadyTime now) {
    constexpr std::chrono::milliseconds kFirst{10};
    pause = std::clamp(2 * pause, kFirst, kLocked);
    at = now + pause;
  }
};

struct Queue {
  Queue(QueueId its_id, Memory& memory) : id(its_id), held(memory) {}

  const QueueId id;
  std::string version = {};                  // of the definition that the source was opened with
  policy::Contender share = {};              // its owner and weight for fair scheduling
  std::unique_ptr<Source> source = nullptr;  // null until needed, or if unusable
  bool must_release = false;                 // some rows could not be released
  Demand demand = {};
  BackOff back_off = {};
  HeldRows held;
  Outbox outbox = {};
  StoreState storage = {};
  UsageMeter meter = {};
  double row_bytes = 0;  // estimated size of a text
  OwnPoll poll = {};

  bool is_job() const { return id < 0; }
  OwnerId owner() const { return share.owner; }
  bool has_unread() const { return source != nullptr && !source->unread().empty(); }
  bool has_unreleased() const { return source != nullptr && source->HasUnreleased(); }

  /// Whether it holds rows for which storing has not been tried.
  bool has_untried() const {
    return has_unread() || !outbox.is_empty() || held.has_ready() || held.locked_until() != kNever;
  }
  bool is_idle() const { return !has_untried() && !held.has_unexplained(); }
};

/// The queues of a worker, by id.
class Queues final {
 public:
  Queue& Find(QueueId id) { return queues_.try_emplace(id, id, memory_).first->second; }
  auto begin() { return queues_.begin(); }
  auto end() { return queues_.end(); }
  auto begin() const { return queues_.begin(); }
  auto end() const { return queues_.end(); }
  auto Erase(std::map<QueueId, Queue>::iterator queue) { return queues_.erase(queue); }
  std::size_t size() const { return queues_.size(); }
  bool IsIdle(QueueId id) const {
    const auto found = queues_.find(id);
    return found == queues_.end() || found->second.is_idle();
  }
  bool all_idle() const {
    return std::all_of(begin(), end(), [](const auto& entry) { return entry.second.is_idle(); });
  }

  const Memory& memory() const { return memory_; }
  Memory& memory() { return memory_; }

 private:
  Memory memory_;
  std::map<QueueId, Queue> queues_;
};

}  // namespace ai::pipeline
