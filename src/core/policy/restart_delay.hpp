// How long to wait before a process that ended is started again, so that one that dies at once is
// not started in a loop.
#pragma once

#include <chrono>

#include "core/clock.hpp"

namespace ai::policy {

class RestartDelay {
 public:
  /// The process has been started, or an attempt at it is made.
  void Started(SteadyTime now) { started_ = now; }

  /// It ended by itself, or could not be started: 1 s, doubled each time up to 60 s; 1 s again
  /// after a life of 60 s.
  void Failed(SteadyTime now);

  /// It ended because it was asked to: nothing to wait for, but a second from start to start.
  void EndedWell();

  /// When it may be started.
  SteadyTime NotBefore() const { return not_before_; }

 private:
  std::chrono::seconds delay_{0};
  SteadyTime started_{};
  SteadyTime not_before_{};
};

}  // namespace ai::policy
