// No owner of tables holds up the work of another. An owner's code (triggers, policies,
// constraints) is usually done in no time, and every worker runs it. One whose code takes long is
// known as slow to all workers of the database for a minute:
//
//   - code of an owner that is not known as slow is cancelled after a second; nothing is charged
//   - that of a slow owner has all of ai.store_timeout, but only half of the workers run it, and
//     these only when they have nothing of others in hand (core/pipeline/owner_share.hpp)
//
// Where there is only one owner, nobody can be held up by another, and none of this applies.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// For a worker that is connected.
void ShareWithOtherOwners(DatabaseSlot& database);

/// Whether work of several owners is known to this worker.
void SetSeveralOwners(bool several) noexcept;

bool IsSlowOwner(Oid owner) noexcept;
bool HasSlowOwners() noexcept;

}  // namespace ai::worker
