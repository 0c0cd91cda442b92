#include "core/policy/worker_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace ai::policy {

namespace {

constexpr int kLeastPool = 3;         // the launcher, a coordinator, a worker
constexpr int kLeastDefaultPool = 5;  // the same for two databases
constexpr int kLeastForWork = 2;

int LeastOf(const PoolClaim& claim) {
  return std::min(claim.wanted, kLeastForWork);
}

enum class Rank : std::uint8_t { kPinned, kInTurn, kWaiting, kTurnOver, kCheckOnly };

Rank RankOf(const PoolClaim& claim, SteadyTime now) {
  const auto age = now - claim.since;
  if (claim.pinned) {
    return Rank::kPinned;
  }
  if (claim.served) {
    return age < kTurn ? Rank::kInTurn : Rank::kTurnOver;
  }
  return claim.wanted < kLeastForWork && age < kCheckPatience ? Rank::kCheckOnly : Rank::kWaiting;
}

/// By rank, then by who has waited longer or was served for less time.
auto OrderOf(const PoolClaim& claim, SteadyTime now) {
  const Rank rank = RankOf(claim, now);
  const auto age = now - claim.since;
  return std::tuple(rank, rank == Rank::kTurnOver ? age : -age);
}

std::vector<std::size_t> InOrder(std::span<const PoolClaim> claims, SteadyTime now) {
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return OrderOf(claims[a], now) < OrderOf(claims[b], now);
  });
  return order;
}

/// What each is to have once those that have to yield have exited.
std::vector<int> Targets(int slots, std::span<const PoolClaim> claims,
                         std::span<const std::size_t> order) {
  std::vector<int> targets(claims.size(), 0);
  for (const std::size_t i : order) {
    if (const int least = LeastOf(claims[i]); least <= slots) {
      targets[i] = least;
      slots -= least;
    }
  }
  for (bool given = true; slots > 0 && std::exchange(given, false);) {
    for (const std::size_t i : order) {
      if (slots > 0 && targets[i] > 0 && targets[i] < claims[i].wanted) {
        ++targets[i];
        --slots;
        given = true;
      }
    }
  }
  return targets;
}

}  // namespace

std::vector<int> ShareSlots(int slots, std::span<const PoolClaim> claims, SteadyTime now) {
  const std::vector<std::size_t> order = InOrder(claims, now);
  std::vector<int> shares = Targets(slots, claims, order);
  int free = slots;
  for (const PoolClaim& claim : claims) {
    free -= claim.held;
  }
  for (const std::size_t i : order) {
    const PoolClaim& claim = claims[i];
    if (shares[i] <= claim.held) {
      continue;
    }
    const int more = std::clamp(shares[i] - claim.held, 0, std::max(free, 0));
    const bool enough = claim.served || claim.held + more >= LeastOf(claim);
    shares[i] = enough ? claim.held + more : 0;
    free -= enough ? more : 0;
  }
  return shares;
}

int PoolSize(int setting, int max_worker_processes, int max_parallel_workers) {
  if (setting >= 0) {
    return std::max(setting, kLeastPool);
  }
  const int for_queries = std::min(max_parallel_workers, max_worker_processes / 2);
  return std::max(max_worker_processes - for_queries, kLeastDefaultPool);
}

}  // namespace ai::policy
