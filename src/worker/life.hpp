// How the supervisors of processes, coordinator and launcher, look at their vital signs.
#pragma once

#include <algorithm>

#include "pg/settings.hpp"
#include "worker/shared_state.hpp"

namespace ai::worker {

/// How long a process has to show that it lives.
inline policy::Patience CurrentPatience() {
  return {std::chrono::milliseconds(pg::settings.worker_timeout),
          std::chrono::milliseconds(pg::settings.job_lock_timeout)};
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
