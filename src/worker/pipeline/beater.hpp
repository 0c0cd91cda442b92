// The heartbeats of a worker: when they are sent, what they carry, and what becomes of one that
// cannot be.
#pragma once

#include "worker/pipeline/health.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

class Beater final {
 public:
  /// The lease is the id of this process.
  Beater(std::string lease, Pipeline& pipeline) : lease_(std::move(lease)), pipeline_(pipeline) {}

  /// Sends one if it is time. Nothing if it was not, or if it could not be sent: then the worker
  /// goes on, for the work is worth more than its record, and whoever has locked the table will let
  /// go of it. But one that cannot write for any other reason, and for as long as a sign of life
  /// may take, achieves nothing: the error is passed on, and another one takes its place.
  std::optional<BeatResult> SendIfDue();

  /// Sends one whatever the time.
  BeatResult Send();

  SteadyTime next() const { return next_; }

 private:
  SystemClock clock_;
  const std::string lease_;
  Pipeline& pipeline_;
  pipeline::Tally unreported_;
  SteadyTime next_;  // the first is at once
  SteadyTime last_ = clock_.Now();
  bool at_work_ = false;  // it has beaten once
  RecurringError trouble_{"note that a worker process is alive"};
};

}  // namespace ai::worker
