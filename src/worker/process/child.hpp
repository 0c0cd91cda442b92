// A background process that launcher or coordinator keeps running: starts it, sees that it ended,
// starts it again in time.
#pragma once

#include "core/clock.hpp"
#include "core/policy/restart_delay.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// What to start.
struct ChildKind {
  const char* title;     // what pg_stat_activity has as backend_type
  const char* function;  // of this library
};

class Child final {
 public:
  /// Looks whether it still runs; its slot is the one that it occupies when it is up. The process
  /// may have been started by an earlier incarnation of this one.
  bool Runs(const ProcessSlot& slot, SteadyTime now);

  /// Starts it. False if the server has no place for another background worker, which is said now
  /// and then.
  bool Start(const ChildKind& kind, Oid database, int number, ProcessSlot& slot, SteadyTime now);

  /// When it may be started.
  SteadyTime NotBefore() const { return delay_.NotBefore(); }

  /// Its end was not its fault, or somebody has seen to it: it may be started without delay.
  void Forgive() { delay_.EndedWell(); }

  /// Ends it before it has taken its slot.
  void EndEarly();

 private:
  BackgroundWorkerHandle* handle_ = nullptr;
  policy::RestartDelay delay_;
};

/// Which number Start gave to this process.
int MyNumber();

}  // namespace ai::worker
