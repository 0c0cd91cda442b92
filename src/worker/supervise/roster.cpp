#include "worker/supervise/roster.hpp"

#include <algorithm>

#include "pg/settings.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

/// The maximum time between two checks, for what raises no event: tables that were changed while
/// event triggers were disabled, jobs to prune.
constexpr std::chrono::minutes kLongestIdle{10};
/// After waiting this long, a helper takes precedence over the last worker.
constexpr std::chrono::minutes kHelperPatience{1};

}  // namespace

/// A coordinator started by the timer, only to check, has no workers until there is work.
Roster::Roster(DatabaseSlot& slot, SteadyTime now) : slot_(slot), seen_(CountEvents(slot)) {
  const SharedLock lock;
  if (slot.pool.by_timer) {
    seen_ = slot.pool.seen;
    idle_ = true;
  } else {
    clock_.Active(now);
  }
}

bool Roster::AnyBusy() const {
  return std::any_of(std::begin(slot_.workers), std::end(slot_.workers),
                     [](const WorkerSlot& w) { return w.process.pid != 0 && w.busy; });
}

void Roster::Observe(SteadyTime now) {
  const bool others_wait = Shared()->pool.waiting > 0;
  clock_.SetTimeout(milliseconds(pg::settings.idle_timeout), others_wait);
  const EventCounts events = CountEvents(slot_);
  busy_ = AnyBusy();
  if (events != seen_ || busy_ || pg::settings.idle_timeout < 0) {
    seen_ = events;
    NoteActivity(now);
  }
}

void Roster::NoteActivity(SteadyTime now) {
  clock_.Active(now);
  idle_ = false;
  slot_.pool.is_idle = false;
}

bool Roster::IsToDecide(SteadyTime now) const {
  return idle_ ? now >= check_at_ : clock_.IsIdle(now);
}

/// From here on whoever adds work wakes us; what came before is in the tables, and counted.
void Roster::BeginToDecide() {
  slot_.pool.is_idle = true;
}

void Roster::Decide(SteadyTime now, std::optional<SteadyTime> due) {
  if (HasEvents() || !clock_.MayIdle(now, due)) {
    NoteActivity(now);
    return;
  }
  idle_ = true;
  is_due_ = due && *due <= now + kLongestIdle;
  check_at_ = is_due_ ? *due : now + kLongestIdle;
}

int Roster::Workers(SteadyTime now, int wanted, const Helpers& helpers) {
  if (!helpers.waiting) {
    helper_waits_ = {};
  } else if (helper_waits_ == SteadyTime()) {
    helper_waits_ = now;
  }
  int workers = 0;
  if (!idle_ && !MustYield()) {
    const int slots = std::max(slot_.pool.granted - 1 - helpers.running, 0);
    const bool helper_first =
        helpers.waiting && (slots > 1 || !busy_ || now - helper_waits_ > kHelperPatience);
    workers = std::min(wanted, slots - (helper_first && slots > 0 ? 1 : 0));
  }
  slot_.pool.workers = workers;
  return workers;
}

bool Roster::HasSlotForHelper(int workers_running, const Helpers& helpers) const {
  return slot_.pool.granted - 1 > workers_running + helpers.running;
}

void Roster::Claim(int wanted_workers, const Helpers& helpers) {
  const int workers = idle_ ? 0 : wanted_workers;
  const int wanted = 1 + workers + helpers.running + (helpers.waiting ? 1 : 0);
  slot_.pool.pinned = helpers.running > 0;
  if (slot_.pool.wanted.exchange(wanted) != wanted) {
    Wake(Shared()->launcher);
  }
}

bool Roster::Leave() {
  const SharedLock lock;
  if (HasEvents()) {
    return false;
  }
  slot_.finding = Finding::kDormant;
  slot_.pool.seen = seen_;
  slot_.pool.check_at = check_at_;
  slot_.pool.is_due = is_due_;
  return true;
}

SteadyTime Roster::NextCheck(SteadyTime now) const {
  return idle_ ? check_at_ : clock_.NextCheck().value_or(now + kLongestIdle);
}

}  // namespace ai::worker
