#include "worker/shared/pool.hpp"

#include <algorithm>

#include "core/policy/worker_pool.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kRefusalHolds{10};
constexpr std::chrono::minutes kBetweenNotices{10};
constexpr std::chrono::minutes kWaitIsRecent{1};

bool IsRecent(SteadyTime when, SteadyTime now, milliseconds span) {
  return when != SteadyTime() && now - when < span;
}

int CountAllProcesses() {
  int all = 1;  // the launcher
  for (const DatabaseSlot& slot : Shared()->databases) {
    if (slot.database != InvalidOid) {
      all += CountProcesses(slot);
    }
  }
  return all;
}

const char* StateOf(const DatabaseSlot* slot) {
  if (slot == nullptr) {
    return "unknown";
  }
  if (slot->pool.waits_since.load() != SteadyTime()) {
    return "waiting";
  }
  const bool is_idle = slot->pool.is_idle;
  if (slot->coordinator.pid != 0) {
    return is_idle ? "idle" : "served";
  }
  return is_idle && slot->finding == Finding::kDormant ? "dormant" : "starting";
}

}  // namespace

EventCounts CountEvents(DatabaseSlot& slot) noexcept {
  return {slot.events.SkipAll(), slot.requests, slot.extension_changes};
}

void PoolPart::Reset() noexcept {
  wanted = 0;
  granted = 0;
  workers = 0;
  pinned = false;
  is_idle = false;
  waits_since = SteadyTime();
  waited_at = SteadyTime();
  seen = {};
  check_at = {};
  is_due = false;
  by_timer = false;
  version_logged = false;
  unlogged_checked = false;
  orphans_logged = 0;
}

int CountProcesses(const DatabaseSlot& slot) noexcept {
  int count = 0;
  for (const ProcessSlot* process : {&slot.coordinator, &slot.indexer, &slot.reconciler}) {
    count += process->pid != 0 ? 1 : 0;
  }
  for (const WorkerSlot& worker : slot.workers) {
    count += worker.process.pid != 0 ? 1 : 0;
  }
  return count;
}

int CurrentPoolSize(SteadyTime now) {
  const int size =
      policy::PoolSize(pg::settings.max_processes, max_worker_processes, max_parallel_workers);
  if (!IsRecent(Shared()->pool.refused_at, now, kRefusalHolds)) {
    return size;
  }
  return std::min(size, policy::PoolSize(CountAllProcesses(), 0, 0));
}

std::optional<PoolFigures> DescribePool(Oid database) {
  if (Shared() == nullptr || Shared()->pool.size == 0) {
    return std::nullopt;
  }
  const SteadyTime now = std::chrono::steady_clock::now();
  const PoolState& pool = Shared()->pool;
  const DatabaseSlot* slot = FindDatabase(database);
  PoolFigures figures{.size = pool.size,
                      .processes = CountAllProcesses(),
                      .waiting_databases = pool.waiting,
                      .state = StateOf(slot),
                      .refused = IsRecent(pool.refused_at.load(), now, kWaitIsRecent)};
  if (slot != nullptr) {
    figures.workers = slot->pool.workers;
    figures.waited = IsRecent(slot->pool.waited_at.load(), now, kWaitIsRecent);
  }
  return figures;
}

void WakeForWork(DatabaseSlot& slot) noexcept {
  // The coordinator sets it and then reads the event counts, so either it sees our event or we see
  // the flag. One wake is enough.
  if (slot.pool.is_idle.load() && slot.pool.is_idle.exchange(false)) {
    Wake(slot.coordinator);
    Wake(Shared()->launcher);
  }
}

void NoteRefusal(const char* title, SteadyTime now) {
  PoolState& pool = Shared()->pool;
  pool.refused_at = now;
  if (IsRecent(pool.refusal_logged_at.load(), now, kBetweenNotices)) {
    return;
  }
  pool.refusal_logged_at = now;
  pg::Call([&] {
    ereport(LOG, errcode(ERRCODE_INSUFFICIENT_RESOURCES),
            errmsg("could not start another \"%s\": out of background worker slots", title),
            errhint("Increase max_worker_processes and restart the server. The start will be "
                    "retried."));
  });
}

}  // namespace ai::worker
