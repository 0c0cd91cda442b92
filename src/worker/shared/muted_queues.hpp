// Queues from which no worker may claim rows now, because their vectorizer is paused or disabled.
// Commits to them wake no worker.
//
// A worker that is notified of a queue and finds that it may not claim from it records that in
// shared memory, together with the value of catalog_changes at the time of its poll. INVARIANT: an
// entry is valid only until the next catalog change, and for a minute at most. So whoever ends a
// pause need not know about it: its commit counts a catalog change, which invalidates all entries,
// and then wakes the workers.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// For commits: whether no worker needs to be woken for a queue.
bool IsMuted(const DatabaseSlot& slot, Oid queue) noexcept;

/// Mutes a queue for so long, as of a poll that began at this value of catalog_changes.
void Mute(DatabaseSlot& slot, Oid queue, std::uint32_t catalog_changes,
          std::chrono::milliseconds time);

}  // namespace ai::worker
