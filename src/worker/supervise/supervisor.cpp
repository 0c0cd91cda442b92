#include "worker/supervise/supervisor.hpp"

#include <algorithm>

#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/process/liveness.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/crash_log.hpp"

namespace ai::worker {

namespace {

using policy::Liveness;
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
      const Supervised& known = workers_[number];
      const bool lives = (worker.process.pid != 0 || known.ran) && !known.declared_dead;
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

int Supervisor::Running() const {
  return static_cast<int>(std::count_if(std::begin(workers_), std::end(workers_),
                                        [](const Supervised& known) { return known.ran; }));
}

bool Supervisor::IsSettled() const {
  return std::none_of(std::begin(workers_), std::end(workers_), [](const Supervised& known) {
    return known.declared_dead || (known.crashed && !known.failed);
  });
}

void Supervisor::Turn(int running, int wanted) {
  now_ = clock_.Now();
  next_turn_ = now_ + CheckInterval();
  crashes_.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
  slot_.has_crashed = !crashes_.times().empty();
  HeartbeatIfDue();
  // A failed worker takes up no slot.
  int slots = running;
  for (int number = 0; number < kMaxWorkers; ++number) {
    slots -= KeepWorker(number, number < wanted && slots > 0, number < wanted) ? 1 : 0;
  }
}

/// Whether it runs, or is about to.
bool Supervisor::KeepWorker(int number, bool to_run, bool wanted) {
  Supervised& known = workers_[number];
  const ProcessSlot& process = slot_.workers[number].process;
  const bool runs = known.child.Runs(process, now_);
  if (known.ran && !runs) {
    OnEnd(number);
  }
  known.ran = runs;
  if (runs) {
    if (!to_run) {
      const SharedLock lock;
      Terminate(process);
    }
    Examine(number);
    return true;
  }
  if (to_run && !known.failed) {
    Start(number);
    return true;
  }
  if (!wanted && known.listed) {
    Forget(ComponentName(number));
    known = Supervised();
  }
  return false;
}

void Supervisor::ForgetEnded() {
  for (int number = 0; number < kMaxWorkers; ++number) {
    Supervised& known = workers_[number];
    if (known.listed && !known.ran && !known.failed) {
      Forget(ComponentName(number));
      known.listed = false;
    }
  }
}

void Supervisor::Examine(int number) {
  if (workers_[number].declared_dead) {
    TerminateAgain(number);
    return;
  }
  ProcessSlot& process = slot_.workers[number].process;
  const Liveness found =
      policy::CheckLiveness(LivenessOf(process), CurrentLivenessTimeouts(), now_);
  if (found == Liveness::kToBePinged) {
    const SharedLock lock;
    Ping(process);
    NotLaterThan(now_ + CurrentLivenessTimeouts().ForReply() + milliseconds(1));
  } else if (found != Liveness::kAlive) {
    DeclareDead(number, policy::Describe(found));
  }
}

/// Records the crash first, then terminates the process, which can no longer change its record.
void Supervisor::DeclareDead(int number, const char* why) {
  Supervised& known = workers_[number];
  known.declared_dead = true;
  known.declared_dead_at = now_;
  known.stuck_logged = false;
  try {
    OnCrash(number, why, false);
  } catch (...) {
    known.declared_dead = false;
    throw;
  }
  TerminateAgain(number);
}

void Supervisor::TerminateAgain(int number) {
  Supervised& known = workers_[number];
  ProcessSlot& process = slot_.workers[number].process;
  const pid_t pid = process.pid;
  if (pid == 0) {
    known.child.TerminateEarly();
    return;
  }
  {
    const SharedLock lock;
    TerminateStopped(process);
  }
  if (now_ - known.declared_dead_at > CurrentLivenessTimeouts().timeout &&
      !std::exchange(known.stuck_logged, true)) {
    LogStuck(ComponentName(number), pid);
  }
}

void Supervisor::OnEnd(int number) {
  Supervised& known = workers_[number];
  if (known.declared_dead) {
    MarkGone(ComponentName(number));
    known.declared_dead = false;
  } else if (!slot_.workers[number].process.exited_cleanly) {
    OnCrash(number, "process exited unexpectedly", true);
  }
  lost_rows_ = true;
}

/// Whether the rows that a process held explain its crash.
bool Supervisor::IsExplained(const std::string& component, const std::string& process) {
  if (process.empty()) {
    return false;
  }
  std::vector<Reclaimed> reclaimed =
      housekeeping_.ReclaimRows(LiveProcesses(process), "{" + process + "}");
  if (!reclaimed.empty()) {
    slot_.crash_count.fetch_add(1);
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
  Supervised& known = workers_[number];
  const WorkerSlot& worker = slot_.workers[number];
  const std::string component = ComponentName(number);
  const std::string process = worker.lease;
  LogCrash(component, process, worker.process.last_pid, why);
  const bool explained = IsExplained(component, process);
  if (!explained) {
    known.crashes.Add(clock_.WallNow());
  }
  known.crashes.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
  const bool failed = !explained && known.crashes.Reaches(pg::settings.restart_limit);
  MarkCrashed(component, {why, known.crashes, process_is_gone, failed});
  known.crashed = true;
  known.failed = failed;
  if (explained) {
    known.child.Forgive();
  }
  if (failed) {
    LogFailed(component);
  }
}

void Supervisor::Start(int number) {
  Supervised& known = workers_[number];
  const SteadyTime not_before = std::max(known.child.NotBefore(), start_after_);
  if (now_ < not_before) {
    NotLaterThan(not_before);
    return;
  }
  const std::string component = ComponentName(number);
  MarkStarting(component, std::exchange(known.crashed, false));
  known.listed = true;
  {
    const SharedLock lock;
    slot_.workers[number].lease[0] = '\0';
  }
  slot_.workers[number].busy = false;
  if (known.child.Start(kWorker, slot_.database, number, slot_.workers[number].process, now_)) {
    known.ran = true;
    return;
  }
  NotLaterThan(known.child.NotBefore());
  MarkCrashed(component, {"no free background worker slot", known.crashes});
}

}  // namespace ai::worker
