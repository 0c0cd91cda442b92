// Settings that may change while a pipeline runs.
#pragma once

#include <chrono>
#include <cstddef>

namespace ai::pipeline {

struct Settings {
  std::size_t max_in_flight = 16;  // requests of a worker
  int workers = 1;                 // of the database
  int number = 0;                  // which of them this is
  std::chrono::milliseconds poll_interval = std::chrono::seconds(5);
  std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(5);
  std::chrono::milliseconds breaker_pause = std::chrono::minutes(5);
};

/// Memory for texts, vectors and requests in flight; above it no more rows are claimed.
inline constexpr std::size_t kMaxHeldBytes = std::size_t{32} << 20;
/// Texts that are loaded at once.
inline constexpr std::size_t kMaxLoadBytes = std::size_t{4} << 20;
/// Rows in one claim.
inline constexpr std::size_t kMaxClaim = 4000;
/// How long to wait before retrying a row or table that is locked.
inline constexpr std::chrono::milliseconds kLocked = std::chrono::seconds(1);
/// How long an owner's rows wait for those of others before the next check.
inline constexpr std::chrono::milliseconds kForOthers{50};
/// How long before they can be sent rows may be claimed.
inline constexpr std::chrono::milliseconds kAhead = std::chrono::seconds(1);
/// The delay of rows that are released to come after others of the same turn.
inline constexpr std::chrono::milliseconds kBehindOthers = std::chrono::seconds(1);

}  // namespace ai::pipeline
