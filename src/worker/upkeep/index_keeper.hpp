// The part of a coordinator that has vector indexes made: finds out where one is missing, starts a
// process that builds it, and ends that process when somebody waits for a lock of it.
//
// The build is a process of its own because it takes minutes or hours, and a coordinator must see
// at once when a worker ends. It is CREATE INDEX CONCURRENTLY, so nobody who reads or writes the
// table waits for it; who changes or drops the table would.
#pragma once

#include <map>

#include "core/random.hpp"
#include "worker/process/child.hpp"

namespace ai::worker {

/// Whether somebody waits for a lock that a process has.
bool HoldsUpOthers(pid_t pid);

class IndexKeeper final {
 public:
  explicit IndexKeeper(DatabaseSlot& slot) : slot_(slot) {}

  /// Looks after the build that is under way, or for one to begin. Returns when it wants to be
  /// called again.
  SteadyTime Turn(SteadyTime now, bool may_start);

  /// The next turn looks, whatever the time.
  void CheckAgain() { next_check_ = {}; }

  bool IsRunning() const { return running_; }
  /// One would be started if there was a place.
  bool IsWaiting() const { return waiting_; }
  /// Whether there is nothing to do, as far as is known.
  bool IsIdle() const {
    return !running_ && !waiting_ && !delayed_ && building_ == 0 && trouble_.empty();
  }

 private:
  /// How often it did not come to an index, and when to try again.
  struct Trouble {
    std::string configuration;
    int failures = 0;
    SteadyTime not_before = {};
  };
  using Wanted = std::map<std::int32_t, std::string>;  // configurations by vectorizers

  void EndIfInTheWay();
  void NoteEnd(const Wanted& wanted, SteadyTime now);
  void Begin(const Wanted& wanted, SteadyTime now, bool may_start);

  DatabaseSlot& slot_;
  SystemRandom random_;
  Child builder_;
  std::int32_t building_ = 0;  // the vectorizer; 0: none that we know of
  bool running_ = false;
  bool waiting_ = false;
  bool delayed_ = false;     // one is to be started when its time has come
  bool in_the_way_ = false;  // it was ended for that
  SteadyTime next_check_ = {};
  std::map<std::int32_t, Trouble> trouble_;
};

}  // namespace ai::worker
