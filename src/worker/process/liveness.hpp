// How processes show that they are alive, and how their supervisors, coordinator and launcher,
// check that.
#pragma once

#include <algorithm>

#include "pg/settings.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// How long a process may take to show that it is alive.
inline policy::LivenessTimeouts CurrentLivenessTimeouts() {
  return {std::chrono::milliseconds(pg::settings.worker_timeout),
          std::chrono::milliseconds(pg::settings.job_lock_timeout)};
}

/// How often a process sends a heartbeat: at least twice within its timeouts, whatever is set.
inline std::chrono::milliseconds HeartbeatInterval() {
  const policy::LivenessTimeouts timeouts = CurrentLivenessTimeouts();
  return std::min({std::chrono::milliseconds(pg::settings.heartbeat_interval), timeouts.timeout / 2,
                   timeouts.stall / 2});
}

/// How often liveness is checked.
inline std::chrono::milliseconds CheckInterval() {
  constexpr std::chrono::milliseconds kMax = std::chrono::seconds(10);
  return std::min(kMax, std::chrono::milliseconds(pg::settings.worker_timeout) / 2);
}

inline policy::LivenessSigns LivenessOf(const ProcessSlot& process) {
  const ProcessLiveness& life = process.life;
  return {life.phase, life.since, life.turned, life.pinged, life.replied};
}

}  // namespace ai::worker
