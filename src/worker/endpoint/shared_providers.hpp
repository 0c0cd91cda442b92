// What all workers of the server know of the endpoints they ask: a table of fixed size in shared
// memory, with an entry for each endpoint and key, and how long changes took in each database.
//
// Plain data, written and read under one lock. A key is never in it: an entry is found by a hash of
// address and key. If all entries are taken, a new endpoint gets that of the one that was used
// longest ago, whose state is in ai.provider anyway.
#pragma once

#include "worker/endpoint/shared_endpoint.hpp"
#include "worker/shared/shared_block.hpp"

namespace ai::worker {

using ProvidersBlock = SharedBlock<SharedProviders>;
using ProvidersLock = ProvidersBlock::Lock;

/// Null where the library was not preloaded.
inline SharedProviders* Providers() noexcept {
  return ProvidersBlock::Get();
}

/// The entry of an endpoint, or null. With the lock.
SharedEndpoint* FindEndpoint(std::uint64_t id) noexcept;

/// The same, a new one if there is none. With the lock.
SharedEndpoint& ReserveEndpoint(std::uint64_t id, std::string_view address,
                                std::string_view key_name) noexcept;

/// What this process's database says of it. With the lock.
DatabaseView& MyView(SharedEndpoint& endpoint) noexcept;

/// The strictest of what databases say holds for all of them. With the lock.
void CombineLimits(SharedEndpoint& endpoint, policy::Micros now) noexcept;

/// Notes for the changes of this process's database how long they took, in seconds.
void NoteLags(std::span<const double> seconds) noexcept;

/// When this process ends, by whatever way, its probes are over.
void ReleaseProbesAtExit();

/// Wakes the workers of all databases: an endpoint may be asked again.
void WakeAllWorkers() noexcept;

}  // namespace ai::worker
