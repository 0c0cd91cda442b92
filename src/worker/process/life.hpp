// How processes show that they live, and how their supervisors, coordinator and launcher, look at
// that.
#pragma once

#include <algorithm>

#include "pg/settings.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// How long a process has to show that it lives.
inline policy::Patience CurrentPatience() {
  return {std::chrono::milliseconds(pg::settings.worker_timeout),
          std::chrono::milliseconds(pg::settings.job_lock_timeout)};
}

/// How often a process says that it lives: often enough to be believed, whatever is set.
inline std::chrono::milliseconds HeartbeatInterval() {
  const policy::Patience patience = CurrentPatience();
  return std::min({std::chrono::milliseconds(pg::settings.heartbeat_interval), patience.timeout / 2,
                   patience.stall / 2});
}

/// How often that is looked at.
inline std::chrono::milliseconds CheckInterval() {
  constexpr std::chrono::milliseconds kMost = std::chrono::seconds(10);
  return std::min(kMost, std::chrono::milliseconds(pg::settings.worker_timeout) / 2);
}

inline policy::VitalSigns SignsOf(const ProcessSlot& process) {
  const Life& life = process.life;
  return {life.phase, life.since, life.turned, life.asked, life.answered};
}

}  // namespace ai::worker
