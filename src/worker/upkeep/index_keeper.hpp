// The part of a coordinator that has vector indexes built: checks where one is missing, starts an
// indexer, and terminates it when another session waits for one of its locks.
//
// The build has a process of its own because it takes minutes or hours, and a coordinator must
// notice immediately when a worker exits. It uses CREATE INDEX CONCURRENTLY, so it does not block
// reads and writes of the table; it would block ALTER TABLE and DROP TABLE.
#pragma once

#include <map>

#include "core/random.hpp"
#include "worker/process/child.hpp"

namespace ai::worker {

/// Whether another session waits for a lock held by a process.
bool HoldsUpOthers(pid_t pid);

class IndexKeeper final {
 public:
  explicit IndexKeeper(DatabaseSlot& slot) : slot_(slot) {}

  /// Supervises the current build, or checks for one to start. Returns when to call it again.
  SteadyTime Turn(SteadyTime now, bool may_start);

  /// The next turn checks, even if it is not due.
  void CheckAgain() { next_check_ = {}; }

  bool IsRunning() const { return running_; }
  /// An indexer would be started if there were a free slot.
  bool IsWaiting() const { return waiting_; }
  /// Whether there is no known work.
  bool IsIdle() const {
    return !running_ && !waiting_ && !delayed_ && building_ == 0 && trouble_.empty();
  }

 private:
  /// How often the build failed, and when to retry.
  struct Trouble {
    std::string configuration;
    int failures = 0;
    SteadyTime not_before = {};
  };
  using Wanted = std::map<std::int32_t, std::string>;  // configurations by vectorizer

  void EndIfInTheWay();
  void NoteEnd(const Wanted& wanted, SteadyTime now);
  void Begin(const Wanted& wanted, SteadyTime now, bool may_start);

  DatabaseSlot& slot_;
  SystemRandom random_;
  Child builder_;
  std::int32_t building_ = 0;  // the vectorizer; 0: none known
  bool running_ = false;
  bool waiting_ = false;
  bool delayed_ = false;     // a retry is not due yet
  bool in_the_way_ = false;  // it was terminated because it blocked others
  SteadyTime next_check_ = {};
  std::map<std::int32_t, Trouble> trouble_;
};

}  // namespace ai::worker
