// Who is on duty in a database, as its coordinator decides it: how many workers, whether there is a
// place for a helper (indexer, reconciler), and when everybody may go.
//
//   active   something has happened within ai.idle_timeout: workers run
//   idle     nothing has, and nothing falls due soon: workers end, then the coordinator itself,
//            unless a helper keeps it. An event, or the time of the next check, ends it
//
// All of it within what the launcher grants. A grant of nothing means: make way for others.
#pragma once

#include "core/policy/idle_clock.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// What of a coordinator's own is under way.
struct Helpers {
  int running = 0;
  bool waiting = false;  // one would be started if there was a place
};

class Roster final {
 public:
  Roster(DatabaseSlot& slot, SteadyTime now);

  /// Takes notice of events, of workers that are busy, of others that wait.
  void Observe(SteadyTime now);

  /// Something is under way that the shared state does not tell of.
  void NoteActivity(SteadyTime now);

  /// Whether it is time to find out what falls due; if so, call Decide.
  bool IsToDecide(SteadyTime now) const;
  void BeginToDecide();
  void Decide(SteadyTime now, std::optional<SteadyTime> due);

  /// How many workers to have, of those wanted; and whether to start a helper beside them.
  int Workers(SteadyTime now, int wanted, const Helpers& helpers);
  bool HasPlaceForHelper(int workers_running, const Helpers& helpers) const;

  /// Tells the launcher what this database wants.
  void Claim(int wanted_workers, const Helpers& helpers);

  bool IsIdle() const { return idle_; }
  bool IsToMakeWay() const { return slot_.pool.granted <= 0; }

  /// Notes that nobody has to be here until something happens. False if that has just been.
  bool Leave();

  /// Whether something has happened since the last look that nobody else sees to.
  bool IsCalled() const { return idle_ && HasNews(); }
  /// When to look again at the latest.
  SteadyTime NextCheck(SteadyTime now) const;

 private:
  bool AnyBusy() const;
  bool HasNews() const { return CountEvents(slot_) != seen_; }

  DatabaseSlot& slot_;
  policy::IdleClock clock_;
  EventCounts seen_;
  bool idle_ = false;
  bool busy_ = false;          // a worker, at the last look
  SteadyTime check_at_{};      // idle: when to find out again what falls due
  bool is_due_ = false;        // there is something then
  SteadyTime helper_waits_{};  // since when; not at all if that is none
};

}  // namespace ai::worker
