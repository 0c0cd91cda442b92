#include "worker/supervise/supervisor.hpp"

#include <algorithm>

#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/process/life.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/crash_log.hpp"

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
      const Supervised& known = workers_[number];
      const bool lives = (worker.process.pid != 0 || known.ran) && !known.dismissed;
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
    return known.dismissed || (known.crashed && !known.failed);
  });
}

void Supervisor::Turn(int running, int wanted) {
  now_ = clock_.Now();
  next_turn_ = now_ + CheckInterval();
  crashes_.Trim(clock_.WallNow(), milliseconds(pg::settings.restart_window));
  slot_.has_crashed = !crashes_.times().empty();
  BeatIfDue();
  // One that has failed takes nobody's place.
  int places = running;
  for (int number = 0; number < kMaxWorkers; ++number) {
    places -= KeepWorker(number, number < wanted && places > 0, number < wanted) ? 1 : 0;
  }
}

/// Whether it runs, or is to.
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
      End(process);
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
  if (workers_[number].dismissed) {
    EndAgain(number);
    return;
  }
  ProcessSlot& process = slot_.workers[number].process;
  const Diagnosis found = policy::Diagnose(SignsOf(process), CurrentPatience(), now_);
  if (found == Diagnosis::kToBeAsked) {
    const SharedLock lock;
    Ask(process);
    NotLaterThan(now_ + CurrentPatience().ForAnswer() + milliseconds(1));
  } else if (found != Diagnosis::kWell) {
    Dismiss(number, policy::Describe(found));
  }
}

/// It is crashed for all the world, then it is ended: it has no say in it any more.
void Supervisor::Dismiss(int number, const char* why) {
  Supervised& known = workers_[number];
  known.dismissed = true;
  known.dismissed_at = now_;
  known.stuck_said = false;
  try {
    OnCrash(number, std::string("it ") + why, false);
  } catch (...) {
    known.dismissed = false;
    throw;
  }
  EndAgain(number);
}

void Supervisor::EndAgain(int number) {
  Supervised& known = workers_[number];
  ProcessSlot& process = slot_.workers[number].process;
  const pid_t pid = process.pid;
  if (pid == 0) {
    known.child.EndEarly();
    return;
  }
  {
    const SharedLock lock;
    EndStopped(process);
  }
  if (now_ - known.dismissed_at > CurrentPatience().timeout &&
      !std::exchange(known.stuck_said, true)) {
    LogStuck(ComponentName(number), pid);
  }
}

void Supervisor::OnEnd(int number) {
  Supervised& known = workers_[number];
  if (known.dismissed) {
    MarkGone(ComponentName(number));
    known.dismissed = false;
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
  MarkCrashed(component, {"the server has no place for another background worker", known.crashes});
}

}  // namespace ai::worker
