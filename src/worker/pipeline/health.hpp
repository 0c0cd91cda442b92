// Access to the table ai.worker. Each function is a short transaction of its own; which state
// changes are allowed is decided by the table (sql/tables/worker.sql), not here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/policy/crash_history.hpp"
#include "worker/pipeline/pipeline.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {

inline constexpr const char* kCoordinator = "coordinator";

/// worker:vectorizer:<number>
std::string ComponentName(int number);

// What a component reports about itself.

/// In the transaction that assigns its process id. False if it has been declared dead meanwhile.
bool Register(pg::Spi& spi, const std::string& process);

/// What a worker reports with each heartbeat.
struct Heartbeat {
  std::string process;  // its id
  pipeline::Tally tally;
  pipeline::InProgress in_progress;
};

struct HeartbeatResult {
  Presence extension;
  bool is_known = true;  // false: it has been declared dead
};
HeartbeatResult SendHeartbeat(const Heartbeat& beat);

/// It is about to exit; it has exited cleanly.
void NoteStopping();
void NoteStopped();

// What the coordinator reports about components.

struct WorkerRecord {
  std::string component;
  int number = -1;  // of a worker; -1: the coordinator
  std::string status;
  bool restart = false;  // requested by an administrator
  policy::CrashHistory crashes;
};

/// Reads the records of the coordinator and its workers.
std::vector<WorkerRecord> ReadWorkers();

struct CoordinatorHeartbeat {
  std::vector<WorkerRecord> workers;
  std::vector<std::string> silent;  // external workers that have just been declared crashed
};
CoordinatorHeartbeat HeartbeatAsCoordinator();

struct Crash {
  std::string why;
  const policy::CrashHistory& crashes;
  bool process_is_gone = true;
  bool failed = false;  // not to be restarted
};
void MarkCrashed(const std::string& component, const Crash& crash);
void MarkStarting(const std::string& component, bool restarted);
/// The process of a worker that was declared dead has exited.
void MarkGone(const std::string& component);
/// Removes the record of a component that is no longer wanted.
void Forget(const std::string& component);

}  // namespace ai::worker
