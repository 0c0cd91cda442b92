// What all workers of the server know of the endpoints they ask: a table of fixed size in shared
// memory, with an entry for each endpoint and key, and how long changes took in each database.
//
// Plain data, written and read under one lock. A key is never in it: an entry is found by a hash of
// address and key. If all entries are taken, a new endpoint gets that of the one that was used
// longest ago, whose state is in ai.provider anyway.
#pragma once

#include "core/policy/endpoint_state.hpp"
#include "core/policy/histogram.hpp"
#include "worker/shared_state.hpp"

namespace ai::worker {

inline constexpr int kMaxEndpoints = 128;

/// How requests end.
enum class Outcome : std::uint8_t {
  kSucceeded,
  kDeferred,
  kTransient,
  kSuspect,
  kConfiguration,
  kInvalidReply,
};
inline constexpr int kOutcomes = 6;

Outcome OutcomeOf(FailureClass failure_class);

/// What a database says of an endpoint, and what its table has been told.
struct DatabaseView {
  Oid database = InvalidOid;
  policy::EndpointLimits limits = {};
  std::uint32_t written_state = 0;
  std::uint64_t written_requests = 0;
  policy::Micros written_at = 0;  // 0: never
};

struct SharedEndpoint {
  std::uint64_t id = 0;  // hash of address and key; 0: the entry is free
  policy::Micros used_at = 0;
  char address[256] = "";
  char key_name[128] = "";
  bool restored = false;  // what ai.provider had was taken over
  policy::EndpointState state = {};
  std::uint32_t state_changes = 0;  // that a table should have at once
  std::uint64_t outcomes[kOutcomes] = {};
  std::uint64_t tokens = 0;
  policy::LatencyHistogram latency = {};
  TimestampTz last_success = 0;
  TimestampTz last_failure = 0;
  TimestampTz mended = 0;  // the last time that somebody said so
  char last_error[512] = "";
  DatabaseView databases[kMaxDatabases];

  std::uint64_t requests() const;
};

/// From the commit of a change to its vectors.
struct SharedLag {
  Oid database = InvalidOid;
  policy::LagHistogram histogram = {};
};

struct SharedProviders {
  SharedEndpoint endpoints[kMaxEndpoints];
  SharedLag lags[kMaxDatabases];
};

/// Asks for the shared memory. Called when the library is preloaded.
void InstallSharedProviders();

/// Null where the library was not preloaded.
SharedProviders* Providers() noexcept;

/// Holds the lock on all of it.
/// INVARIANT: short, and nothing that can ereport is called meanwhile.
class ProvidersLock final {
 public:
  ProvidersLock() noexcept;
  ~ProvidersLock();
  ProvidersLock(const ProvidersLock&) = delete;
  ProvidersLock& operator=(const ProvidersLock&) = delete;
};

/// The entry of an endpoint, or null. With the lock.
SharedEndpoint* FindEndpoint(std::uint64_t id) noexcept;

/// The same, a new one if there is none. With the lock.
SharedEndpoint& ReserveEndpoint(std::uint64_t id, std::string_view address,
                                std::string_view key_name, policy::Micros now) noexcept;

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
