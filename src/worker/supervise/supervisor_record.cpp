// See supervisor.hpp: what the table ai.worker says, from earlier coordinators and from operators.
#include <algorithm>

#include "pg/settings.hpp"
#include "worker/process/life.hpp"
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
    // One that ends in order takes its row with it, or says so at least: the last one did not.
    mine.crashes.Add(clock_.WallNow());
    mine.crashes.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
    MarkCrashed(kCoordinator, {"it ended unexpectedly, or the server did", mine.crashes});
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
    known.dismissed = known.crashed || known.failed;
    known.dismissed_at = now_;
  } else if (known.failed) {
    LogFailed(record.component);
  } else if (record.status == "healthy") {
    // One that was stopping has ended in order; so may have one that had not come to work yet.
    MarkCrashed(record.component, {"it ended with the server", known.crashes});
    known.crashed = true;
  }
}

/// What an operator may have changed.
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
  if (known.ran && !known.dismissed) {
    const SharedLock lock;
    End(slot_.workers[record.number].process);
  }
}

void Supervisor::BeatIfDue() {
  const std::uint32_t requests = slot_.requests;
  if (now_ < next_beat_ && requests == requests_seen_) {
    NotLaterThan(next_beat_);
    return;
  }
  const CoordinatorBeat beat = BeatAsCoordinator();
  requests_seen_ = requests;
  next_beat_ = now_ + HeartbeatInterval();
  NotLaterThan(next_beat_);
  bool listed = false;
  for (const WorkerRecord& record : beat.workers) {
    TakeNote(record);
    listed = listed || record.component == kCoordinator;
  }
  if (!listed) {
    MarkStarting(kCoordinator, false);
    next_beat_ = now_;
  }
  for (const std::string& component : beat.silent) {
    LogSilent(component);
  }
}

}  // namespace ai::worker
