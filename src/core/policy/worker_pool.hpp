// Which databases have background processes now, and how many, when all of them could use more than
// there are.
//
// A database that has work needs two: its coordinator and one for the work. If these do not fit for
// all, databases take turns: who waits the longest comes in the place of who was served the
// longest, once that one has had its turn. What is left is shared evenly. One process is for a
// look, which can wait for a while.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/clock.hpp"

namespace ai::policy {

/// How long a database keeps its processes at least, while others wait. What is under way when it
/// has to go is begun again later, so turns are not short.
inline constexpr std::chrono::seconds kTurn{10};

/// For how long nobody has to go for a look.
inline constexpr std::chrono::seconds kCheckPatience{60};

/// What a database asks for.
struct PoolClaim {
  int wanted = 0;       // processes in all, its coordinator included
  int held = 0;         // that it has or may start: nobody else's before they have ended
  bool served = false;  // its coordinator is there
  bool pinned = false;  // what it does would be lost if it had to go
  SteadyTime since{};   // of its turn; or of its wait
};

/// How many processes each may have now, in the order of the claims; 0: none, wait or go. They are
/// no more than the places, but for what is held by those that have been told to go and have not
/// yet.
std::vector<int> SharePlaces(int places, std::span<const PoolClaim> claims, SteadyTime now);

/// The size of the pool, launcher included: the setting, or if that is below 0 what
/// max_parallel_workers leaves of max_worker_processes, half of them if that is more, and 5 at
/// least: so two databases can be served at a time. A setting below 3 serves nobody, and is 3.
int PoolSize(int setting, int max_worker_processes, int max_parallel_workers);

}  // namespace ai::policy
