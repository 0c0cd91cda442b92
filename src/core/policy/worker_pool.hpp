// Divides the process pool among databases when they could use more processes than there are.
//
// A database with work needs two slots: for its coordinator and one worker. If there are not enough
// for all, databases take turns: the one that has waited longest replaces the one served longest,
// once that has had its turn. What is left is divided evenly. A single slot is for a check only,
// which can wait for a while.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/clock.hpp"

namespace ai::policy {

/// How long a database keeps its processes at least while others wait. Work in progress is repeated
/// after a database has to yield, so turns are not short.
inline constexpr std::chrono::seconds kTurn{10};

/// For how long no database has to yield for a check.
inline constexpr std::chrono::seconds kCheckPatience{60};

/// The claim of a database.
struct PoolClaim {
  int wanted = 0;       // processes, including its coordinator
  int held = 0;         // that it has or may start: not available to others before they exit
  bool served = false;  // its coordinator is running
  bool pinned = false;  // its work would be lost if it had to yield
  SteadyTime since{};   // start of its turn, or of its wait
};

/// How many processes each may have now, in the order of the claims; 0: none, wait or yield. Their
/// sum does not exceed the slots, apart from those still held by databases that have to yield.
std::vector<int> ShareSlots(int slots, std::span<const PoolClaim> claims, SteadyTime now);

/// The size of the pool, including the launcher: the setting; or, if that is negative, what
/// max_parallel_workers leaves of max_worker_processes, but at least half of them, and at least 5,
/// so that two databases can be served at a time. A setting below 3 could serve none and counts as
/// 3.
int PoolSize(int setting, int max_worker_processes, int max_parallel_workers);

}  // namespace ai::policy
