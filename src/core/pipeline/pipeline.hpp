// The scheduler of a worker: claims rows of many queues, has their texts embedded, stores the
// vectors. Pure: all side effects go through the interfaces in Effects.
//
//   queue --Claimer--> outbox --Sender--> in flight --Receiver--> ready --Storer--> target
//                        ^                    |
//                        +---- bisected, or retried after a back-off
//
// Between two turns it holds nothing but memory, requests and the leases of the rows that it has
// claimed. Planner decides what each queue may do next and when.
#pragma once

#include "core/pipeline/isolator.hpp"
#include "core/pipeline/poller.hpp"
#include "core/pipeline/receiver.hpp"
#include "core/pipeline/sender.hpp"
#include "core/pipeline/storer.hpp"
#include "core/pipeline/usage_reporter.hpp"

namespace ai::pipeline {

/// The interfaces to the outside. All of them outlive the pipeline.
struct Effects {
  const Clock& clock;
  Random& random;
  const Settings& settings;
  http::Transport& transport;
  Backlog& backlog;
  Peers& peers;
  EmbeddedModel& model;
  InterruptCheck interrupt = nullptr;
};

/// What a worker has claimed and not finished.
struct InProgress {
  std::size_t rows = 0;
  std::size_t requests = 0;           // in flight
  std::optional<QueueId> queue = {};  // the one with the most rows
};

/// The stages that rows pass through, and the reporting of usage.
struct Stages {
  Poller poller;
  Claimer claimer;
  Isolator isolator;
  Sender sender;
  Receiver receiver;
  Storer storer;
  UsageReporter usage;
};

class Pipeline final {
 public:
  explicit Pipeline(const Effects& effects);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Commits have written to these queues.
  void Notify(std::span<const QueueEvent> events) { at_.poller.Notify(events); }
  /// Anything may have changed: the next turn polls all queues.
  void NotifyAll() { at_.poller.NotifyAll(); }
  /// Ends all back-offs: their causes may be gone.
  void EndBackOffs();

  /// Does everything that can be done without waiting.
  void Turn();

  /// How long there is nothing to do, apart from the transport; at most the time given.
  std::chrono::milliseconds NextWait(std::chrono::milliseconds most) const;

  /// Stores what can be stored immediately, cancels requests in flight and releases all other rows,
  /// uncharged.
  void Stop(std::chrono::milliseconds most);
  /// Forgets all rows held, in memory only; they are released later.
  void ForgetAll();

  InProgress CountInProgress() const;
  Tally TakeTally() { return std::exchange(tally_, {}); }
  const Queues& queues() const { return queues_; }
  const Planner& planner() const { return planner_; }
  SteadyTime NextPoll() const { return at_.poller.NextPoll(clock_.Now()); }

 private:
  void Claim();
  void ReleaseBlocked();
  void ForgetIdle();

  const Clock& clock_;
  Backlog& backlog_;
  Tally tally_;
  Queues queues_;
  InFlight in_flight_;
  ModelRunner model_;
  Capacity capacity_;
  Planner planner_;
  Leases leases_;
  Stages at_;
};

}  // namespace ai::pipeline
