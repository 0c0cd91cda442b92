#include "worker/supervisor.hpp"

#include <algorithm>

#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/crash_log.hpp"
#include "worker/life.hpp"
#include "worker/process.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

namespace {

using policy::Diagnosis;
using std::chrono::milliseconds;

constexpr ChildKind kWorker{"ai worker", "ai_worker_main"};

}  // namespace

std::string Supervisor::LiveProcesses(const std::string& but) const {
  char leases[kMaxWorkers][sizeof(WorkerSlot::lease)];
  int count = 0;
  {
    const SharedLock lock;
    for (int number = 0; number < kMaxWorkers; ++number) {
      const WorkerSlot& worker = slot_.workers[number];
      const Ward& ward = wards_[number];
      const bool lives = (worker.process.pid != 0 || ward.ran) && !ward.condemned;
      if (lives && worker.lease[0] != '\0' && worker.lease != but) {
        std::memcpy(leases[count++], worker.lease, sizeof(worker.lease));
      }
    }
  }
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::string(leases[i]);
  }
  return text + "}";
}

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
  Ward& ward = wards_[record.number];
  ward.listed = true;
  ward.crashes = record.crashes;
  ward.ran = slot_.workers[record.number].process.pid != 0;
  ward.crashed = record.status == "crashed";
  ward.failed = record.status == "failed";
  if (ward.ran) {
    ward.condemned = ward.crashed || ward.failed;
    ward.condemned_at = now_;
  } else if (ward.failed) {
    LogFailed(record.component);
  } else if (record.status == "healthy") {
    // One that was stopping has ended in order; so may have one that had not come to work yet.
    MarkCrashed(record.component, {"it ended with the server", ward.crashes});
    ward.crashed = true;
  }
}

/// What an operator may have changed.
void Supervisor::TakeNote(const WorkerRecord& record) {
  if (record.number < 0 || record.number >= kMaxWorkers) {
    to_end_ = to_end_ || record.restart;
    return;
  }
  Ward& ward = wards_[record.number];
  ward.listed = true;
  ward.crashes = record.crashes;
  ward.failed = record.status == "failed";
  if (!record.restart) {
    return;
  }
  ward.crashed = false;
  ward.child.Forgive();
  if (ward.ran && !ward.condemned) {
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

void Supervisor::Turn(int wanted) {
  now_ = clock_.Now();
  next_turn_ = now_ + CheckInterval();
  crashes_.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
  slot_.has_crashed = !crashes_.times().empty();
  BeatIfDue();
  for (int number = 0; number < kMaxWorkers; ++number) {
    KeepWorker(number, number < wanted);
  }
}

void Supervisor::KeepWorker(int number, bool wanted) {
  Ward& ward = wards_[number];
  const ProcessSlot& process = slot_.workers[number].process;
  const bool runs = ward.child.Runs(process, now_);
  if (ward.ran && !runs) {
    OnEnd(number);
  }
  ward.ran = runs;
  if (runs) {
    if (!wanted) {
      const SharedLock lock;
      End(process);
    }
    Examine(number);
  } else if (wanted && !ward.failed) {
    Start(number);
  } else if (!wanted && ward.listed) {
    Forget(ComponentName(number));
    ward = Ward();
  }
}

void Supervisor::Examine(int number) {
  if (wards_[number].condemned) {
    Urge(number);
    return;
  }
  ProcessSlot& process = slot_.workers[number].process;
  const Diagnosis found = policy::Diagnose(SignsOf(process), CurrentPatience(), now_);
  if (found == Diagnosis::kToBeAsked) {
    const SharedLock lock;
    Ask(process);
    NotLaterThan(now_ + CurrentPatience().ForAnswer() + milliseconds(1));
  } else if (found != Diagnosis::kWell) {
    Condemn(number, policy::Describe(found));
  }
}

/// It is crashed for all the world, then it is ended: it has no say in it any more.
void Supervisor::Condemn(int number, const char* why) {
  Ward& ward = wards_[number];
  ward.condemned = true;
  ward.condemned_at = now_;
  ward.stuck_said = false;
  try {
    OnCrash(number, std::string("it ") + why, false);
  } catch (...) {
    ward.condemned = false;
    throw;
  }
  Urge(number);
}

void Supervisor::Urge(int number) {
  Ward& ward = wards_[number];
  ProcessSlot& process = slot_.workers[number].process;
  const pid_t pid = process.pid;
  if (pid == 0) {
    ward.child.EndEarly();
    return;
  }
  {
    const SharedLock lock;
    EndStopped(process);
  }
  if (now_ - ward.condemned_at > CurrentPatience().timeout &&
      !std::exchange(ward.stuck_said, true)) {
    LogStuck(ComponentName(number), pid);
  }
}

void Supervisor::OnEnd(int number) {
  Ward& ward = wards_[number];
  if (ward.condemned) {
    MarkGone(ComponentName(number));
    ward.condemned = false;
  } else if (!slot_.workers[number].process.ended_well) {
    OnCrash(number, "its process ended unexpectedly", true);
  }
  lost_rows_ = true;
}

/// Whether the rows that a process had tell why it died.
bool Supervisor::IsExplained(const std::string& component, const std::string& process) {
  if (process.empty()) {
    return false;
  }
  std::vector<Reclaimed> reclaimed =
      housekeeping_.ReclaimRows(LiveProcesses(process), "{" + process + "}");
  if (!reclaimed.empty()) {
    slot_.deaths.fetch_add(1);
    WakeWorkers(slot_);
  }
  std::erase_if(reclaimed, [&](const Reclaimed& rows) { return rows.process != process; });
  if (reclaimed.size() != 1) {
    return false;
  }
  Blame(reclaimed[0], component);
  return true;
}

void Supervisor::OnCrash(int number, const std::string& why, bool process_is_gone) {
  Ward& ward = wards_[number];
  const WorkerSlot& worker = slot_.workers[number];
  const std::string component = ComponentName(number);
  const std::string process = worker.lease;
  LogCrash(component, process, worker.process.last_pid, why);
  const bool explained = IsExplained(component, process);
  if (!explained) {
    ward.crashes.Add(clock_.WallNow());
  }
  ward.crashes.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
  const bool failed = !explained && ward.crashes.Reaches(pg::settings.restart_limit);
  MarkCrashed(component, {why, ward.crashes, process_is_gone, failed});
  ward.crashed = true;
  ward.failed = failed;
  if (explained) {
    ward.child.Forgive();
  }
  if (failed) {
    LogFailed(component);
  }
}

void Supervisor::Start(int number) {
  Ward& ward = wards_[number];
  const SteadyTime not_before = std::max(ward.child.NotBefore(), start_after_);
  if (now_ < not_before) {
    NotLaterThan(not_before);
    return;
  }
  const std::string component = ComponentName(number);
  MarkStarting(component, std::exchange(ward.crashed, false));
  ward.listed = true;
  {
    const SharedLock lock;
    slot_.workers[number].lease[0] = '\0';
  }
  if (ward.child.Start(kWorker, slot_.database, number, slot_.workers[number].process, now_)) {
    ward.ran = true;
    full_server_.Started();
    return;
  }
  NotLaterThan(ward.child.NotBefore());
  full_server_.Refused(kWorker.title);
  MarkCrashed(component, {"the server has no place for another background worker", ward.crashes});
}

}  // namespace ai::worker
