// The part of a coordinator that has vector indexes made: finds out where one is missing, starts a
// process that builds it, and ends that process when somebody waits for a lock of it.
//
// The build is a process of its own because it takes minutes or hours, and a coordinator must see
// at once when a worker ends. It is CREATE INDEX CONCURRENTLY, so nobody who reads or writes the
// table waits for it; who changes or drops the table would.
#pragma once

#include <map>

#include "core/random.hpp"
#include "worker/child.hpp"

namespace ai::worker {

/// Whether somebody waits for a lock that a process has.
bool HoldsUpOthers(pid_t pid);

class IndexKeeper final {
 public:
  explicit IndexKeeper(DatabaseSlot& slot) : slot_(slot) {}

  /// Looks after the build that is under way, or for one to begin. Returns when it wants to be
  /// called again.
  SteadyTime Turn(SteadyTime now);

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
  void Begin(const Wanted& wanted, SteadyTime now);

  DatabaseSlot& slot_;
  SystemRandom random_;
  Child builder_;
  FullServerNotice full_server_;
  std::int32_t building_ = 0;  // the vectorizer; 0: none that we know of
  bool in_the_way_ = false;    // it was ended for that
  SteadyTime next_look_ = {};
  std::map<std::int32_t, Trouble> trouble_;
};

}  // namespace ai::worker
