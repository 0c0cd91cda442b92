// Keeps the workers of a database running: starts them, sees when one dies or hangs, has it
// replaced, and knows when to stop. What it knows is in ai.worker too, so that it outlives this
// process.
//
// A death is charged to the vectorizer whose rows the process had, if it had rows of that one only;
// else to the worker. Who is charged too often within ai.restart_window is set aside: a vectorizer
// is paused, a worker has failed. A worker that went down with the server is charged nothing, since
// anybody may be to blame for that; but if it happens again and again, workers are started later
// and later.
#pragma once

#include "worker/pipeline/health.hpp"
#include "worker/process/child.hpp"
#include "worker/supervise/housekeeping.hpp"

namespace ai::worker {

/// A worker as this process knows it.
struct Supervised {
  Child child;
  bool ran = false;        // when it was last looked at
  bool listed = false;     // it has a row in ai.worker
  bool crashed = false;    // the next start is a restart
  bool failed = false;     // there is no next start
  bool dismissed = false;  // taken for crashed, though its process is there
  bool stuck_said = false;
  SteadyTime dismissed_at = {};
  policy::CrashHistory crashes;
};

class Supervisor final {
 public:
  Supervisor(DatabaseSlot& slot, Housekeeping& housekeeping)
      : slot_(slot), housekeeping_(housekeeping) {}

  /// Takes over what an earlier coordinator left. Before anything else, once it has gone well.
  void Begin();

  /// Beats, looks at every worker, and does what is to be done. So many are to run now, of those
  /// that are wanted when there is work.
  void Turn(int running, int wanted);

  /// How many have a process.
  int Running() const;
  /// Whether nobody waits to be started again, or to end.
  bool IsSettled() const;
  /// Removes what is left of those that have no process. One that has failed has done so for good.
  void ForgetEnded();

  /// When to do that again at the latest.
  SteadyTime NextTurn() const { return next_turn_; }

  /// Whether processes have ended whose rows may be left; says so once.
  bool HasLostRows() { return std::exchange(lost_rows_, false); }

  /// The ids of the processes that live, or have not been seen to be dead, as the text of a uuid[]:
  /// whose rows are released before that can be charged with nothing.
  std::string LiveProcesses(const std::string& but = {}) const;

  /// An operator wants another coordinator.
  bool IsToEnd() const { return to_end_; }

 private:
  void BeatIfDue();
  void TakeOver(const WorkerRecord& record);
  void TakeNote(const WorkerRecord& record);
  bool KeepWorker(int number, bool to_run, bool wanted);
  void Examine(int number);
  void Dismiss(int number, const char* why);
  void EndAgain(int number);
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
  SteadyTime next_beat_;          // the first is at once
  SteadyTime start_after_;        // nobody is started before
  policy::CrashHistory crashes_;  // of the server, or of coordinators
  std::uint32_t requests_seen_ = 0;
  bool lost_rows_ = false;
  bool to_end_ = false;
  Supervised workers_[kMaxWorkers];
};

}  // namespace ai::worker
