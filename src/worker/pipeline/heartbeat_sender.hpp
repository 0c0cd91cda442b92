// The heartbeats of a worker: when they are sent, what they contain, and what happens if one fails.
#pragma once

#include "worker/pipeline/health.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

class HeartbeatSender final {
 public:
  /// The lease is the id of this process.
  HeartbeatSender(std::string lease, Pipeline& pipeline)
      : lease_(std::move(lease)), pipeline_(pipeline) {}

  /// Sends a heartbeat if one is due. Nothing if none is, or if it failed: a locked table does not
  /// stop the worker. But if it keeps failing for another reason for longer than ai.worker_timeout,
  /// the worker could not store anything either: the error is rethrown, and the worker is replaced.
  std::optional<HeartbeatResult> SendIfDue();

  /// Sends one unconditionally.
  HeartbeatResult Send();

  SteadyTime next() const { return next_; }

 private:
  SystemClock clock_;
  const std::string lease_;
  Pipeline& pipeline_;
  pipeline::Tally unreported_;
  SteadyTime next_;  // the first one is due immediately
  SteadyTime last_ = clock_.Now();
  bool at_work_ = false;  // it has sent one
  RecurringError trouble_{"record the heartbeat of a worker"};
};

}  // namespace ai::worker
