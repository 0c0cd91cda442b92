// The delay before a process is restarted, so that one that crashes at once is not restarted in a
// tight loop.
#pragma once

#include <chrono>

#include "core/clock.hpp"

namespace ai::policy {

class RestartDelay {
 public:
  /// The process is being started.
  void Started(SteadyTime now) { started_ = now; }

  /// It crashed or could not be started: 1 s, doubled each time up to 60 s; back to 1 s once it has
  /// run for 60 s.
  void Failed(SteadyTime now);

  /// It exited on request: no delay, but at least a second from start to start.
  void ExitedCleanly();

  /// The earliest time to start it.
  SteadyTime NotBefore() const { return not_before_; }

 private:
  std::chrono::seconds delay_{0};
  SteadyTime started_{};
  SteadyTime not_before_{};
};

}  // namespace ai::policy
