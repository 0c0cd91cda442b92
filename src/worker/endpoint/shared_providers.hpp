// The endpoints of all workers of the server: a fixed-size table in shared memory, with an entry
// for each endpoint and key, and the latency of changes in each database.
//
// Plain data, written and read under one lock. A key is never in it: an entry is found by a hash of
// address and key. If the table is full, a new endpoint replaces the least recently used one, whose
// state is in ai.provider anyway.
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

/// The same; creates one if there is none. With the lock.
SharedEndpoint& ReserveEndpoint(std::uint64_t id, std::string_view address,
                                std::string_view key_name) noexcept;

/// The settings of this process's database. With the lock.
DatabaseView& MyView(SharedEndpoint& endpoint) noexcept;

/// Applies the strictest limits of all databases. With the lock.
void CombineLimits(SharedEndpoint& endpoint, policy::Micros now) noexcept;

/// Records the latency of changes in this process's database, in seconds.
void NoteLags(std::span<const double> seconds) noexcept;

/// Ends this process's probes when it exits, however it does.
void ReleaseProbesAtExit();

/// Wakes the workers of all databases: requests to an endpoint may be sent again.
void WakeAllWorkers() noexcept;

}  // namespace ai::worker
