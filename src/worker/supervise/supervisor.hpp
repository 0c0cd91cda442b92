// Keeps the workers of a database running: starts them, detects when one crashes or hangs, restarts
// it, and knows when to give up. Its state is also in ai.worker, so that it survives this process.
//
// A crash is attributed to the vectorizer whose rows the process held, if they were all of one
// vectorizer; otherwise to the worker. After too many crashes within ai.restart_window the
// vectorizer is paused, or the worker marked as failed. When the whole server crashes, no worker is
// charged, since any process may have caused it; but if that keeps happening, workers are started
// with a growing delay.
#pragma once

#include "worker/pipeline/health.hpp"
#include "worker/process/child.hpp"
#include "worker/supervise/housekeeping.hpp"

namespace ai::worker {

/// The coordinator's view of one worker.
struct Supervised {
  Child child;
  bool ran = false;            // at the last check
  bool listed = false;         // it has a row in ai.worker
  bool crashed = false;        // the next start is a restart
  bool failed = false;         // there is no next start
  bool declared_dead = false;  // considered crashed although its process still exists
  bool stuck_logged = false;
  SteadyTime declared_dead_at = {};
  policy::CrashHistory crashes;
};

class Supervisor final {
 public:
  Supervisor(DatabaseSlot& slot, Housekeeping& housekeeping)
      : slot_(slot), housekeeping_(housekeeping) {}

  /// Takes over the state that the previous coordinator left. Has to succeed once before anything
  /// else.
  void Begin();

  /// Sends a heartbeat if due, checks every worker, and starts or terminates workers: so many are
  /// to run now, of those wanted when there is work.
  void Turn(int running, int wanted);

  /// How many have a process.
  int Running() const;
  /// Whether no worker is waiting to be restarted or is still exiting.
  bool IsSettled() const;
  /// Removes the records of workers without a process. A failed worker stays failed.
  void ForgetEnded();

  /// When to call Turn again at the latest.
  SteadyTime NextTurn() const { return next_turn_; }

  /// Whether processes have exited whose rows may still be claimed; true once.
  bool HasLostRows() { return std::exchange(lost_rows_, false); }

  /// The ids of processes that are alive, or not yet known to have exited, as the text of a uuid[].
  /// Rows must not be released before that, or nothing could be charged for the crash.
  std::string LiveProcesses(const std::string& but = {}) const;

  /// An administrator has requested a restart of the coordinator.
  bool IsToEnd() const { return to_end_; }

 private:
  void HeartbeatIfDue();
  void TakeOver(const WorkerRecord& record);
  void TakeNote(const WorkerRecord& record);
  bool KeepWorker(int number, bool to_run, bool wanted);
  void Examine(int number);
  void DeclareDead(int number, const char* why);
  void TerminateAgain(int number);
  void OnEnd(int number);
  void OnCrash(int number, const std::string& why, bool process_is_gone);
  bool IsExplained(const std::string& component, const std::string& process);
  void Start(int number);
  void NotLaterThan(SteadyTime when) { next_turn_ = std::min(next_turn_, when); }

  DatabaseSlot& slot_;
  Housekeeping& housekeeping_;
  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  SteadyTime next_heartbeat_;     // the first is at once
  SteadyTime start_after_;        // no worker is started before
  policy::CrashHistory crashes_;  // of the server or of coordinators
  std::uint32_t requests_seen_ = 0;
  bool lost_rows_ = false;
  bool to_end_ = false;
  Supervised workers_[kMaxWorkers];
};

}  // namespace ai::worker
