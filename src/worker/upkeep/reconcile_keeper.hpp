// The part of a coordinator that finds what vectorizers have missed: tables, triggers and
// partitions changed while event triggers were disabled, unlogged tables emptied by a crash,
// orphans. The reconciler, a process of its own (reconciler.cpp), repairs what can be repaired.
//
// Vectorizers are processed one by one. One that fails, takes too long or blocks others is retried
// with a growing delay, after the others.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "core/random.hpp"
#include "worker/process/child.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

class ReconcileKeeper final {
 public:
  explicit ReconcileKeeper(DatabaseSlot& slot) : slot_(slot) {}

  /// Supervises the current process, or checks for work. Returns when to call it again.
  SteadyTime Turn(SteadyTime now, bool may_start);

  /// The next turn checks, even if it is not due.
  void CheckAgain() { next_check_ = {}; }

  bool IsRunning() const { return running_; }
  /// A reconciler would be started if there were a free slot.
  bool IsWaiting() const { return !running_ && !due_.empty(); }
  /// Whether there is no known work.
  bool IsIdle() const { return !running_ && due_.empty() && trouble_.empty() && unlogged_.empty(); }

  /// Terminates the current process: the extension is being dropped, and it holds a lock on it.
  void Yield();

 private:
  struct Trouble {
    int failures = 0;
    SteadyTime not_before = {};
  };

  void EndIfInTheWay(SteadyTime now);
  void NoteEnd(SteadyTime now);
  void Check(SteadyTime now);
  void FindOrphans();
  void Begin(SteadyTime now, bool may_start);
  std::chrono::minutes MostTime() const;

  DatabaseSlot& slot_;
  SystemRandom random_;
  Child child_;
  RecurringError checking_{"check for vectorizers to reconcile"};
  std::int32_t current_ = 0;  // the vectorizer; 0: none known
  SteadyTime started_ = {};
  bool running_ = false;
  bool ended_ = false;  // by us
  SteadyTime next_check_ = {};
  bool looked_ = false;
  std::deque<std::int32_t> due_;
  std::set<std::int32_t> unlogged_;  // still to be checked after our start
  std::map<std::int32_t, Trouble> trouble_;
};

}  // namespace ai::worker
