// See flow.hpp: rows that may have killed a process. When one dies, each row it had may have been
// the reason. They are worked on with nothing else in hand: in small groups, and those of a group
// that ended another process one by one. So the row is found after three deaths, however many rows
// there were, and the coordinator gives it up (sql/62-engine.sql).
//
// One worker of a database does that, or rows of two would go down together each time. Others go on
// meanwhile; and where there are none, other rows get as much time as these.
#include <algorithm>

#include "worker/flow.hpp"
#include "worker/process.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

bool IsShut(const Route& route) {
  return route.Closed().value_or(milliseconds(0)) > kLocked;
}

}  // namespace

bool Flow::AllIdle() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const auto& entry) { return entry.second.idle(); });
}

/// There are suspects after a death, and as long as they are known to be there. Some may have been
/// with another worker when they were looked for; so now and then all the same.
bool Flow::LooksForSuspects() {
  constexpr std::chrono::seconds kInterval{60};
  const std::uint32_t deaths = DeathsInDatabase();
  const bool known = std::any_of(lanes_.begin(), lanes_.end(), [](const auto& entry) {
    return entry.second.next_suspect.has_value();
  });
  if (!known && deaths == deaths_seen_ && clock_.Now() < next_look_for_suspects_) {
    return false;
  }
  deaths_seen_ = deaths;
  next_look_for_suspects_ = clock_.Now() + kInterval;
  return true;
}

/// Whether nothing will come of what the lane has in hand for a while: its provider may not be
/// asked, or somebody has locked its target.
bool Flow::IsHeldUp(const Lane& lane) const {
  if (lane.idle() || lane.in_flight > 0 || !lane.unread.empty()) {
    return false;
  }
  if (!lane.ready.empty()) {
    return lane.store_after > clock_.Now();
  }
  if (!lane.locked.empty()) {
    return true;
  }
  if (!lane.unsent.empty()) {
    return lane.route && IsShut(*lane.route);
  }
  return std::all_of(delayed_.begin(), delayed_.end(), [&](const Request& request) {
    return request.lane != &lane || IsShut(request.route);
  });
}

/// Others must not wait for them.
void Flow::LetGoOfHeldUp() {
  for (auto& [id, lane] : lanes_) {
    if (IsHeldUp(lane)) {
      Drop(lane);
      lane.rests_until = std::max(lane.rests_until, clock_.Now() + kLocked);
    }
  }
}

Lane* Flow::NextSuspects() {
  const SteadyTime now = clock_.Now();
  if (now < isolate_not_before_) {
    return nullptr;
  }
  std::vector<Lane*> lanes;
  for (auto& [id, lane] : lanes_) {
    const bool due = lane.next_suspect && *lane.next_suspect <= now && !lane.owes_rows;
    if (due && lane.rests_until <= now && lane.paused_until <= now) {
      lanes.push_back(&lane);
    }
  }
  return NextOf(taking_share_, lanes);
}

void Flow::EndIsolation() {
  const SteadyTime now = clock_.Now();
  isolate_after_ = now + (now - isolated_since_);
  isolated_ = nullptr;
  LeaveIsolation();
}

/// True if nothing else may be taken now: suspects are in hand, or will be as soon as all else is
/// done.
bool Flow::Isolate() {
  if (isolated_ != nullptr) {
    LetGoOfHeldUp();
  }
  if (isolated_ != nullptr && isolated_->idle()) {
    EndIsolation();
  }
  const bool takes_nothing_else = isolated_ != nullptr || BeginIsolation();
  if (!takes_nothing_else) {
    LeaveIsolation();
  }
  return takes_nothing_else;
}

bool Flow::BeginIsolation() {
  Lane* lane = NextSuspects();
  if (lane == nullptr || (clock_.Now() < isolate_after_ && NextLane() != nullptr)) {
    return false;
  }
  if (!EnterIsolation()) {
    isolate_not_before_ = clock_.Now() + kLocked;
    return false;
  }
  LetGoOfHeldUp();
  if (!AllIdle()) {
    return true;
  }
  TakeSuspects(*lane);
  return isolated_ != nullptr;
}

void Flow::TakeSuspects(Lane& lane) {
  if (!Load(lane)) {
    return;
  }
  if (KeepSlots(lane, SlotsFor(lane)) == 0) {
    isolate_not_before_ = clock_.Now() + kLocked;
    return;
  }
  Guarded(lane, "loading", [&] {
    if (!TakeRowsOf(lane, Wanted::kSuspects, 0)) {
      return;
    }
    if (lane.unread.empty()) {
      look_ = true;  // for the time of the next ones
      return;
    }
    taking_share_.Charge(lane.contender(), static_cast<double>(lane.unread.size()));
    lane.route.reset();
    isolated_ = &lane;
    isolated_since_ = clock_.Now();
    Accept(lane, lane.vectorizer->ReadTaken(lane, lease(), kMostReadBytes));
  });
}

}  // namespace ai::worker
