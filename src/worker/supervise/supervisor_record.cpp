// See supervisor.hpp: what the table ai.worker holds, from earlier coordinators and from
// administrators.
#include <algorithm>

#include "pg/settings.hpp"
#include "worker/process/liveness.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/crash_log.hpp"
#include "worker/supervise/supervisor.hpp"

namespace ai::worker {

using std::chrono::milliseconds;

void Supervisor::Begin() {
  now_ = clock_.Now();
  WorkerRecord mine;
  bool was_there = false;
  for (const WorkerRecord& record : ReadWorkers()) {
    if (record.component == kCoordinator) {
      mine = record;
      was_there = record.status != "stopping";
    } else if (record.number >= 0 && record.number < kMaxWorkers) {
      TakeOver(record);
    }
  }
  if (was_there) {
    // A coordinator that exits cleanly removes its row, or at least marks it as stopping: this one
    // did not.
    mine.crashes.Add(clock_.WallNow());
    mine.crashes.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
    MarkCrashed(kCoordinator, {"the coordinator or the server exited unexpectedly", mine.crashes});
  }
  MarkStarting(kCoordinator, was_there);
  crashes_ = mine.crashes;
  start_after_ = now_ + crashes_.Pause();
}

void Supervisor::TakeOver(const WorkerRecord& record) {
  Supervised& known = workers_[record.number];
  known.listed = true;
  known.crashes = record.crashes;
  known.ran = slot_.workers[record.number].process.pid != 0;
  known.crashed = record.status == "crashed";
  known.failed = record.status == "failed";
  if (known.ran) {
    known.declared_dead = known.crashed || known.failed;
    known.declared_dead_at = now_;
  } else if (known.failed) {
    LogFailed(record.component);
  } else if (record.status == "healthy") {
    // A worker that was stopping has exited cleanly; so may one that had not become healthy yet.
    MarkCrashed(record.component, {"the server exited", known.crashes});
    known.crashed = true;
  }
}

/// Applies what an administrator may have changed.
void Supervisor::TakeNote(const WorkerRecord& record) {
  if (record.number < 0 || record.number >= kMaxWorkers) {
    to_end_ = to_end_ || record.restart;
    return;
  }
  Supervised& known = workers_[record.number];
  known.listed = true;
  known.crashes = record.crashes;
  known.failed = record.status == "failed";
  if (!record.restart) {
    return;
  }
  known.crashed = false;
  known.child.Forgive();
  if (known.ran && !known.declared_dead) {
    const SharedLock lock;
    Terminate(slot_.workers[record.number].process);
  }
}

void Supervisor::HeartbeatIfDue() {
  const std::uint32_t requests = slot_.requests;
  if (now_ < next_heartbeat_ && requests == requests_seen_) {
    NotLaterThan(next_heartbeat_);
    return;
  }
  const CoordinatorHeartbeat beat = HeartbeatAsCoordinator();
  requests_seen_ = requests;
  next_heartbeat_ = now_ + HeartbeatInterval();
  NotLaterThan(next_heartbeat_);
  bool listed = false;
  for (const WorkerRecord& record : beat.workers) {
    TakeNote(record);
    listed = listed || record.component == kCoordinator;
  }
  if (!listed) {
    MarkStarting(kCoordinator, false);
    next_heartbeat_ = now_;
  }
  for (const std::string& component : beat.silent) {
    LogSilent(component);
  }
}

}  // namespace ai::worker
