// Queues from which no worker may claim rows now, since their vectorizer is paused or disabled.
// Commits to them wake nobody.
//
// A worker that was told of a queue and finds that it may not be worked on notes so in shared
// memory, with the number of changes of the catalog that had been told when it looked.
// INVARIANT: a note counts only until the next such change, and a minute at most. So whoever ends a
// pause needs to know nothing of it: the commit tells that the catalog has changed, which makes all
// notes void, then wakes the workers.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// For commits: whether nobody needs to be woken for a queue.
bool IsMuted(const DatabaseSlot& slot, Oid queue) noexcept;

/// Notes it for so long, as of a look that began after so many catalog_changes.
void Mute(DatabaseSlot& slot, Oid queue, std::uint32_t catalog_changes,
          std::chrono::milliseconds time);

}  // namespace ai::worker
