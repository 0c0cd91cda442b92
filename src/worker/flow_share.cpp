// See flow.hpp: what a worker leaves to others, so that no owner holds up another
// (owner_share.hpp).
#include <algorithm>

#include "worker/flow.hpp"
#include "worker/owner_share.hpp"

namespace ai::worker {

/// Whether rows of the lane's owner may be taken, as far as that is for the sake of others. Who
/// serves a slow owner has nothing else in hand; and a slow owner waits for that.
bool Flow::MayServe(const Lane& lane) const {
  if (!ServesOwner(lane.owner) || HoldsTooMuch(lane.owner)) {
    return false;
  }
  if (NeedsWorkerAlone(lane.owner)) {
    return !HasRowsOfOthers(lane.owner);
  }
  return !ServesSlowOwnersFirst() || !HasWorkOfSlowOwners();
}

bool Flow::HasRowsOfOthers(Oid owner) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& entry) {
    return entry.second.owner != owner && !entry.second.idle();
  });
}

bool Flow::HasWorkOfSlowOwners() const {
  const SteadyTime now = clock_.Now();
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& entry) {
    const Lane& lane = entry.second;
    return IsSlowOwner(lane.owner) && (!lane.idle() || IsDue(lane, now)) &&
           lane.rests_until <= now && lane.store_after <= now;
  });
}

/// One owner's rows never take all of the memory, which those of others need, too.
bool Flow::HoldsTooMuch(Oid owner) const {
  constexpr std::size_t kShare = kMostHeldBytes / 2;
  if (held_bytes_ < kShare || !HasSeveralOwners()) {
    return false;
  }
  std::size_t bytes = 0;
  for (const auto& [id, lane] : lanes_) {
    bytes += lane.owner == owner ? lane.held_bytes : 0;
  }
  return bytes >= kShare;
}

}  // namespace ai::worker
