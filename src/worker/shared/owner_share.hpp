// Keeps table owners from holding up each other's work. An owner's code (triggers, policies,
// constraints) usually takes no time, and every worker runs it. An owner whose code takes long is
// marked as slow for all workers of the database for a minute:
//
//   - code of an owner not marked as slow is cancelled after a second; nothing is charged
//   - that of a slow owner may take ai.store_timeout, but only half of the workers run it, and
//     only while they hold no rows of others (core/pipeline/owner_share.hpp)
//
// If there is only one owner, none of this applies.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// Call once the worker is connected.
void ShareWithOtherOwners(DatabaseSlot& database);

/// Whether this worker knows of queues of several owners.
void SetSeveralOwners(bool several) noexcept;

bool IsSlowOwner(Oid owner) noexcept;
bool HasSlowOwners() noexcept;

}  // namespace ai::worker
