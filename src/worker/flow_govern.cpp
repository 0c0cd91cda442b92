// See flow.hpp: keeping to what providers allow. Rows are taken when they can be sent, or a moment
// before; what cannot be sent for a while is given back, so that a provider in trouble holds
// nothing that others could use.
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

/// How long before they can be sent rows may be taken.
constexpr milliseconds kAhead = std::chrono::seconds(1);
/// Requests to each endpoint that do not count against those to others.
constexpr std::size_t kOwnSlots = 4;
/// For how long rows that cannot be sent are kept in hand.
constexpr milliseconds kHold = std::chrono::seconds(5);

}  // namespace

void Flow::FollowProviders() {
  if (governor_.Follow()) {
    // What was in the way of a vectorizer may be gone.
    for (auto& [id, lane] : lanes_) {
      lane.rests_until = {};
    }
  }
  GiveBackBarred();
}

/// Where the lane's requests go. Looked up once for the rows that are taken together, and again as
/// long as nobody may ask there: a new key opens a gate of its own.
void Flow::LookUpRoute(Lane& lane) {
  const json::Value config = lane.vectorizer->embedding();
  lane.route.reset();
  WorkTransaction transaction;
  auto endpoint = pg::ResolveEndpoint(config, lane.vectorizer->owner, std::nullopt);
  transaction.Commit();
  Gate& gate = governor_.Find(endpoint, std::string(config.GetString("api_key_name", "")));
  lane.route = {std::move(endpoint), &gate, RoleIdOf(lane.vectorizer->owner), clock_.Now()};
}

/// False if there is no way to send anything now.
bool Flow::FindRoute(Lane& lane) {
  if (!lane.route && !Guarded(lane, "embedding", [&] { LookUpRoute(lane); })) {
    return false;
  }
  return !lane.route->Closed();
}

bool Flow::IsBarred(const Lane& lane) const {
  if (!lane.route ||
      clock_.Now() >= lane.route->found + milliseconds(pg::settings.heartbeat_interval)) {
    return false;
  }
  return lane.route->Closed().value_or(milliseconds(0)) > kAhead;
}

/// The lane whose turn it is. A provider that is in doubt is tried with rows of a lane that did not
/// fail there, if there is one: it tells more.
Lane* Flow::NextOf(policy::FairShare& share, const std::vector<Lane*>& lanes) {
  const auto waits_for_others = [&](const Lane& lane) {
    return lane.failing.time != 0 && lane.route && lane.route->gate->Broken() &&
           std::any_of(lanes.begin(), lanes.end(), [&](const Lane* other) {
             return other->failing.time == 0 && other->route &&
                    other->route->gate == lane.route->gate;
           });
  };
  std::vector<policy::Contender> contenders;
  std::vector<Lane*> contending;
  for (Lane* lane : lanes) {
    if (!waits_for_others(*lane)) {
      contending.push_back(lane);
      contenders.push_back(lane->contender());
    }
  }
  const auto next = share.Next(contenders);
  return next ? contending[*next] : nullptr;
}

/// How many requests to an endpoint may be added to those under way. Each endpoint has some slots
/// for itself: one that does not answer cannot take them all. Null is one that is not known yet.
/// And each owner has one: others' requests may take as long as they like.
std::size_t Flow::FreeSlots(const Gate* gate, Oid owner) const {
  const auto most = static_cast<std::size_t>(pg::settings.max_in_flight);
  if (in_flight_.size() < most) {
    return most - in_flight_.size();
  }
  const std::size_t own = std::min(kOwnSlots, most);
  const std::size_t used = gate == nullptr ? 0 : gate->under_way;
  if (used < own) {
    return own - used;
  }
  const bool has_any =
      std::any_of(in_flight_.begin(), in_flight_.end(),
                  [owner](const auto& entry) { return entry.second.lane->owner == owner; });
  return has_any ? 0 : 1;
}

bool Flow::HasSlot(const Request& request) const {
  const Lane& lane = *request.lane;
  return lane.in_flight < lane.slots && FreeSlots(request.route.gate, lane.owner) > 0;
}

/// A lane whose key cannot be had may take rows: there are some that nothing has to be sent for,
/// and for the others the error comes when they are sent.
bool Flow::MayTake(Lane& lane) {
  if (lane.vectorizer->local_model() != nullptr) {
    return true;
  }
  try {
    LookUpRoute(lane);
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
  }
  if (IsBarred(lane)) {
    NoteBreaker(lane, *lane.route->gate);
    return false;
  }
  return SlotsFor(lane) > 0;
}

/// Where requests are scarce, they are filled before they go.
bool Flow::WantsMore(const Lane& lane) const {
  return lane.unsent.empty() || (lane.route && lane.unsent.size() < lane.vectorizer->batch_size() &&
                                 lane.route->gate->Limited());
}

/// How many to take: no more than can be sent soon.
std::size_t Flow::RowsFor(const Lane& lane) const {
  std::size_t requests = SlotsFor(lane);
  if (lane.route) {
    requests = std::min(requests, lane.route->gate->RequestsWithin(kAhead));
  }
  return requests * lane.vectorizer->batch_size();
}

void Flow::GiveBackBarred() {
  for (auto& entry : lanes_) {
    Lane& lane = entry.second;
    if (!lane.route || lane.vectorizer == nullptr || lane.in_flight > 0 || lane.idle() ||
        !lane.ready.empty() || lane.route->Closed().value_or(milliseconds(0)) <= kHold) {
      continue;
    }
    const Route route = *lane.route;
    Guarded(lane, "embedding", [&] {
      Forget(lane);
      ReturnRows(lane);
    });
    // It is not taken again before it may be.
    lane.route = route;
  }
}

/// Until when there is nothing to take for the lane, as far as its provider is concerned.
milliseconds Flow::UntilTake(const Lane& lane) const {
  return std::max(milliseconds(0), lane.route->Closed().value_or(kAhead) - kAhead);
}

}  // namespace ai::worker
