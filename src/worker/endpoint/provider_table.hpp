// The rows of ai.provider, as workers read and write them: each way a short transaction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "worker/endpoint/endpoint_limiter.hpp"

namespace ai::worker {

/// What was decided, and what was known of the endpoint when the row was written. A time that is
/// null is 0.
struct ProviderRow {
  std::string address;
  std::string key_name;
  std::uint64_t id = 0;  // of the entry in shared memory, with the key that was used last
  Control control = {};
  TimestampTz resumed = 0;
  bool broken = false;
  std::int32_t failures = 0;
  TimestampTz opened = 0;
  TimestampTz next_probe = 0;
  TimestampTz cooling_until = 0;
};

/// What became of an endpoint.
struct ProviderReport {
  std::string address;
  std::string key_name;
  std::uint64_t id = 0;
  policy::BreakerState breaker = policy::BreakerState::kClosed;
  std::int32_t failures = 0;
  TimestampTz opened = 0;
  TimestampTz next_probe = 0;
  TimestampTz cooling_until = 0;
  TimestampTz last_success = 0;
  TimestampTz last_failure = 0;
  std::string last_error = {};
};

/// Nothing if the extension is not there for us.
std::optional<std::vector<ProviderRow>> ReadProviders();

/// A row that somebody has locked is passed over: then false.
bool WriteProviders(std::span<const ProviderReport> reports);

/// An id as it stands in the table.
std::string Fingerprint(std::uint64_t id);

/// Breaker states as they stand in the table.
const char* NameOf(policy::BreakerState state);

}  // namespace ai::worker
