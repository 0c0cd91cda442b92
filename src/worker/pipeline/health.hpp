// The table ai.worker, as processes write and read it. Each function is a short transaction of its
// own; what it may do is decided by the table (sql/tables/worker.sql), not here.
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

// A component about itself.

/// In the transaction that gives it its id as a process. False if it has been dismissed meanwhile.
bool Register(pg::Spi& spi, const std::string& process);

/// What a worker says of itself with each heartbeat.
struct Heartbeat {
  std::string process;  // its id
  pipeline::Tally tally;
  pipeline::InHand in_hand;
};

struct BeatResult {
  Presence extension;
  bool is_known = true;  // false: it has been dismissed
};
BeatResult Beat(const Heartbeat& beat);

/// It is about to end; it has ended in order.
void NoteStopping();
void NoteStopped();

// The coordinator about components.

struct WorkerRecord {
  std::string component;
  int number = -1;  // of a worker; -1: the coordinator
  std::string status;
  bool restart = false;  // an operator asks for it
  policy::CrashHistory crashes;
};

/// What the table has of the coordinator and of its workers.
std::vector<WorkerRecord> ReadWorkers();

struct CoordinatorBeat {
  std::vector<WorkerRecord> workers;
  std::vector<std::string> silent;  // workers outside, which have just been taken for crashed
};
CoordinatorBeat BeatAsCoordinator();

struct Crash {
  std::string why;
  const policy::CrashHistory& crashes;
  bool process_is_gone = true;
  bool failed = false;  // not to be started again
};
void MarkCrashed(const std::string& component, const Crash& crash);
void MarkStarting(const std::string& component, bool restarted);
/// The process of one that was taken for crashed is gone at last.
void MarkGone(const std::string& component);
/// It is not wanted any more.
void Forget(const std::string& component);

}  // namespace ai::worker
