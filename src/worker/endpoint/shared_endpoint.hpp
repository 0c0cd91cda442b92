// What is in shared memory about endpoints; see shared_providers.hpp.
#pragma once

#include "core/policy/endpoint_state.hpp"
#include "core/policy/histogram.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

inline constexpr int kMaxEndpoints = 128;

/// Outcomes of requests.
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

/// What a database has set for an endpoint, and what was written to its table.
struct DatabaseView {
  Oid database = InvalidOid;
  policy::EndpointLimits limits = {};
  std::uint32_t written_state = 0;
  policy::Micros written_probe = 0;
  std::uint64_t written_requests = 0;
  policy::Micros written_at = 0;  // 0: never
};

struct SharedEndpoint {
  std::uint64_t id = 0;  // hash of address and key; 0: the entry is free
  policy::Micros used_at = 0;
  char address[256] = "";
  char key_name[128] = "";
  bool restored = false;  // restored from ai.provider
  policy::EndpointState state = {};
  std::uint32_t state_changes = 0;  // that should be written immediately
  std::uint64_t outcomes[kOutcomes] = {};
  std::uint64_t tokens = 0;
  policy::LatencyHistogram latency = {};
  TimestampTz last_success = 0;
  TimestampTz last_failure = 0;
  TimestampTz opened = 0;   // when the breaker last opened, not counting failed probes
  TimestampTz resumed = 0;  // when an administrator last did
  char last_error[512] = "";
  FailureClass last_class = FailureClass::kTransient;
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

}  // namespace ai::worker
