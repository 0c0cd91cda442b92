// The part of the launcher that divides the process pool: grants process slots to the databases
// that are served, and records which ones wait for a slot.
#pragma once

#include <span>
#include <vector>

#include "core/policy/worker_pool.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// Whether a database has no processes because it is idle, with no event since. With the lock.
bool IsDormant(DatabaseSlot& slot, SteadyTime now);

/// Whether there has been no event since the last coordinator exited for lack of work.
bool IsUnchanged(DatabaseSlot& slot);

/// How many process slots a database without processes could use.
int SlotsWanted(DatabaseSlot* slot);

class PoolKeeper final {
 public:
  struct Candidate {
    Oid database;
    policy::PoolClaim claim;
  };

  /// How many processes each may have now; coordinators that run have been notified.
  std::vector<int> Share(std::span<const Candidate> candidates, SteadyTime now);

  /// Whether a database waits for a slot; if so, call Share again soon.
  bool HasWaiting() const { return waiting_ > 0; }

 private:
  void NoteWait(const Candidate& candidate, SteadyTime now);
  void NoteWaiting(int count);
  void LogWait(Oid database, SteadyTime now);

  int waiting_ = 0;
  bool logged_ = false;
  SteadyTime waited_at_ = {};  // when a database last waited for long
};

}  // namespace ai::worker
