// A background process that the launcher or a coordinator keeps running: starts it, detects its
// exit, and restarts it after a delay.
#pragma once

#include "core/clock.hpp"
#include "core/policy/restart_delay.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// What kind of process to start.
struct ChildKind {
  const char* title;     // the backend_type in pg_stat_activity
  const char* function;  // the entry point in this library
};

class Child final {
 public:
  /// Whether it is still running; the slot is the one it occupies once it is up. The process may
  /// have been started by an earlier incarnation of this one.
  bool Runs(const ProcessSlot& slot, SteadyTime now);

  /// Starts it. False if there is no free background worker slot, which is logged from time to
  /// time.
  bool Start(const ChildKind& kind, Oid database, int number, ProcessSlot& slot, SteadyTime now);

  /// The earliest time to start it.
  SteadyTime NotBefore() const { return delay_.NotBefore(); }

  /// Its exit was not its own fault, or the cause was fixed: it may be restarted without delay.
  void Forgive() { delay_.ExitedCleanly(); }

  /// Terminates it before it has taken its slot.
  void TerminateEarly();

 private:
  BackgroundWorkerHandle* handle_ = nullptr;
  policy::RestartDelay delay_;
};

/// The number that Start gave to this process.
int MyNumber();

}  // namespace ai::worker
