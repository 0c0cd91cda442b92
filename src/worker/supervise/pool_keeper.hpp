// The part of the launcher that shares the pool of background processes: tells databases that are
// served how many they may have, and notes which ones wait for their turn.
#pragma once

#include <span>
#include <vector>

#include "core/policy/worker_pool.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// Whether a database has no processes for want of work, and nothing has happened since. With the
/// lock.
bool IsDormant(DatabaseSlot& slot, SteadyTime now);

/// Whether nothing has happened there since the last coordinator ended for want of work.
bool IsUnchanged(DatabaseSlot& slot);

/// How many processes a database could use that has none.
int PlacesWanted(DatabaseSlot* slot);

class PoolKeeper final {
 public:
  struct Candidate {
    Oid database;
    policy::PoolClaim claim;
  };

  /// How many processes each may have now. Who is served has been told.
  std::vector<int> Share(std::span<const Candidate> candidates, SteadyTime now);

  /// Whether somebody waits: then to be called again soon.
  bool HasWaiting() const { return waiting_ > 0; }

 private:
  void NoteWait(const Candidate& candidate, SteadyTime now);
  void NoteWaiting(int count);
  void LogWait(Oid database, SteadyTime now);

  int waiting_ = 0;
  bool said_ = false;
  SteadyTime waited_at_ = {};  // somebody, for long, the last time
};

}  // namespace ai::worker
