// Workers' access to ai.provider: reads and writes are short transactions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "worker/endpoint/endpoint_limiter.hpp"

namespace ai::worker {

/// The settings of an endpoint, and its state when the row was written. A null time is 0.
struct ProviderRow {
  std::string address;
  std::string key_name;
  std::uint64_t id = 0;  // of the entry in shared memory for the key used last
  Control control = {};
  TimestampTz resumed = 0;
  bool broken = false;
  std::int32_t failures = 0;
  TimestampTz opened = 0;
  TimestampTz next_probe = 0;
  TimestampTz cooling_until = 0;
};

/// The state of an endpoint.
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

/// Nothing if the extension is unavailable.
std::optional<std::vector<ProviderRow>> ReadProviders();

/// Skips a locked row and returns false.
bool WriteProviders(std::span<const ProviderReport> reports);

/// An id as written in the table.
std::string Fingerprint(std::uint64_t id);

/// Breaker states as written in the table.
const char* NameOf(policy::BreakerState state);

}  // namespace ai::worker
