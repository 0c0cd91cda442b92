// What a worker knows of one queue, and has in hand for it.
#pragma once

#include <algorithm>
#include <map>

#include "core/pipeline/hand.hpp"
#include "core/pipeline/outbox.hpp"
#include "core/pipeline/settings.hpp"
#include "core/policy/backoff.hpp"
#include "core/policy/store_budget.hpp"

namespace ai::pipeline {

/// A queue that cannot go on is left alone, longer each time.
struct BackOff {
  SteadyTime until = {};
  int times = 0;             // since rows were last stored
  std::string last_error;    // that was recorded, so that it is not again
  std::int64_t opening = 0;  // of a circuit breaker, that was recorded

  void AtLeast(SteadyTime time) { until = std::max(until, time); }
};

/// How storing goes.
struct StoreState {
  SteadyTime after = {};  // somebody has locked a table that is written
  int locks_met = 0;      // since rows were last stored
  SteadyTime last_at = {};
  std::uint64_t stores = 0;  // that went well
  policy::StoreBudget budget = {};

  /// How long to leave alone what somebody has locked.
  std::chrono::milliseconds NextLockPause(Random& random) {
    constexpr policy::Backoff kPause{std::chrono::seconds(1), std::chrono::seconds(8)};
    return kPause.After(++locks_met, random);
  }
};

/// What was counted and is not yet in the database.
struct UsageMeter {
  Usage usage = {};
  std::string model = {};  // that it is of
  SteadyTime report_after = {};
};

/// When to poll a queue by itself: when its rows are due has changed, or somebody had locked its
/// tables, perhaps for as long as a commit takes to its end.
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
  Queue(QueueId its_id, Memory& memory) : id(its_id), hand(memory) {}

  const QueueId id;
  std::string version = {};      // of the definition that the source was opened by
  policy::Contender share = {};  // whose share of the work it has, and with which weight
  std::unique_ptr<Source> source = nullptr;  // null until it is needed, or if it cannot be used
  bool must_release = false;  // some rows could not be released when it let go of them
  Demand demand = {};
  BackOff back_off = {};
  Hand hand;
  Outbox outbox = {};
  StoreState storage = {};
  UsageMeter meter = {};
  double row_bytes = 0;  // of a text, about, as far as is known
  OwnPoll poll = {};

  bool is_job() const { return id < 0; }
  OwnerId owner() const { return share.owner; }
  bool has_unread() const { return source != nullptr && !source->unread().empty(); }
  bool has_unreleased() const { return source != nullptr && source->HasUnreleased(); }

  /// Whether rows are in hand that have not been tried to be stored.
  bool has_untried() const {
    return has_unread() || !outbox.is_empty() || hand.has_ready() || hand.locked_until() != kNever;
  }
  bool is_idle() const { return !has_untried() && !hand.has_unexplained(); }
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
