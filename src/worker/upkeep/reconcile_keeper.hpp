// The part of a coordinator that finds what vectorizers have missed: tables, triggers and
// partitions that were changed while event triggers were off, unlogged tables that a crash has
// emptied, things that belong to no vectorizer. A process of its own (reconciler.cpp) puts right
// what can be.
//
// Vectorizers come one by one. One that fails, takes too long or is in somebody's way comes later
// and later, and the others before it.
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

  /// Looks after the process that is under way, or for something to do. Returns when it wants to be
  /// called again.
  SteadyTime Turn(SteadyTime now, bool may_start);

  /// The next turn looks, whatever the time.
  void CheckAgain() { next_check_ = {}; }

  bool IsRunning() const { return running_; }
  /// One would be started if there was a place.
  bool IsWaiting() const { return !running_ && !due_.empty(); }
  /// Whether there is nothing to do, as far as is known.
  bool IsIdle() const { return !running_ && due_.empty() && trouble_.empty() && unlogged_.empty(); }

  /// Ends the process that is under way: somebody wants to drop the extension, which it holds.
  void GiveWay();

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
  RecurringError checking_{"look for vectorizers that are out of step"};
  std::int32_t current_ = 0;  // the vectorizer; 0: none that we know of
  SteadyTime started_ = {};
  bool running_ = false;
  bool ended_ = false;  // by us
  SteadyTime next_check_ = {};
  bool looked_ = false;
  std::deque<std::int32_t> due_;
  std::set<std::int32_t> unlogged_;  // still to be looked at after our start
  std::map<std::int32_t, Trouble> trouble_;
};

}  // namespace ai::worker
