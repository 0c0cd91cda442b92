#include "core/pipeline/owner_share.hpp"

#include <algorithm>

namespace ai::pipeline {

/// The first half of the workers. A single worker serves all owners.
bool OwnerShare::ServesSlow() const {
  return settings_.workers <= 1 || settings_.number < std::max(1, settings_.workers / 2);
}

SteadyTime OwnerShare::MayClaim(const Queue& queue, SteadyTime now) const {
  const bool slow = peers_.IsSlow(queue.owner());
  if (slow && !ServesSlow()) {
    return now + kLocked;
  }
  const bool alone = settings_.workers <= 1;
  const bool must_wait =
      HoldsTooMuch(queue.owner()) ||
      (!alone && (slow ? HasRowsOfOthers(queue.owner())
                       : ServesSlow() && peers_.HasSlowOwners() && HasWorkOfSlowOwners(now)));
  return must_wait ? now + kForOthers : now;
}

SteadyTime OwnerShare::MayStore(const Queue& queue, SteadyTime now) const {
  const bool must_wait =
      settings_.workers > 1 && peers_.IsSlow(queue.owner()) && HasRowsOfOthers(queue.owner());
  return must_wait ? now + kForOthers : now;
}

bool OwnerShare::HasRowsOfOthers(OwnerId owner) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& entry) {
    return entry.second.owner() != owner && !entry.second.is_idle();
  });
}

bool OwnerShare::HasWorkOfSlowOwners(SteadyTime now) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& entry) {
    const Queue& queue = entry.second;
    return peers_.IsSlow(queue.owner()) &&
           (!queue.is_idle() || queue.demand.NextClaim(now) <= now) &&
           queue.back_off.until <= now && queue.storage.after <= now;
  });
}

/// The rows of one owner must never use all of the memory.
bool OwnerShare::HoldsTooMuch(OwnerId owner) const {
  constexpr std::size_t kShare = kMaxHeldBytes / 2;
  if (queues_.memory().bytes < kShare) {
    return false;
  }
  std::size_t bytes = 0;
  bool several = false;
  for (const auto& [id, queue] : queues_) {
    bytes += queue.owner() == owner ? queue.held.bytes() : 0;
    several = several || queue.owner() != owner;
  }
  return several && bytes >= kShare;
}

}  // namespace ai::pipeline
