// Which processes a database has, as its coordinator decides: how many workers, whether there is a
// slot for a helper (indexer, reconciler), and when all of them may exit.
//
//   active   there was an event within ai.idle_timeout: workers run
//   idle     there was none, and nothing falls due soon: workers exit, then the coordinator itself,
//            unless a helper keeps it. An event, or the time of the next check, ends it
//
// All of this within the slots that the launcher grants. A grant of zero means: yield to other
// databases.
#pragma once

#include "core/policy/idle_clock.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// The coordinator's helper processes.
struct Helpers {
  int running = 0;
  bool waiting = false;  // one would be started if there were a slot
};

class Roster final {
 public:
  Roster(DatabaseSlot& slot, SteadyTime now);

  /// Reads events, which workers are busy, and whether other databases wait.
  void Observe(SteadyTime now);

  /// There is activity that the shared state does not show.
  void NoteActivity(SteadyTime now);

  /// Whether it is time to check what falls due; if so, call BeginToDecide and Decide.
  bool IsToDecide(SteadyTime now) const;
  void BeginToDecide();
  void Decide(SteadyTime now, std::optional<SteadyTime> due);

  /// How many of the wanted workers to run, and whether there is a slot for a helper beside them.
  int Workers(SteadyTime now, int wanted, const Helpers& helpers);
  bool HasSlotForHelper(int workers_running, const Helpers& helpers) const;

  /// Tells the launcher how many slots this database wants.
  void Claim(int wanted_workers, const Helpers& helpers);

  bool IsIdle() const { return idle_; }
  bool MustYield() const { return slot_.pool.granted <= 0; }

  /// Marks the database dormant: no process is needed until the next event. False if there has just
  /// been one.
  bool Leave();

  /// Whether there were events since the last check, with no worker running to handle them.
  bool HasUnhandledEvents() const { return idle_ && HasEvents(); }
  /// When to check again at the latest.
  SteadyTime NextCheck(SteadyTime now) const;

 private:
  bool AnyBusy() const;
  bool HasEvents() const { return CountEvents(slot_) != seen_; }

  DatabaseSlot& slot_;
  policy::IdleClock clock_;
  EventCounts seen_;
  bool idle_ = false;
  bool busy_ = false;          // a worker was, at the last check
  SteadyTime check_at_{};      // when idle: when to check again what falls due
  bool is_due_ = false;        // there is work at that time
  SteadyTime helper_waits_{};  // since when a helper waits for a slot; unset if none does
};

}  // namespace ai::worker
