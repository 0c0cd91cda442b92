// The scheduler of a worker: claims rows of many queues, has their texts embedded, stores the
// vectors. Pure: all that it does to the world goes through the effects it is given.
//
//   queue --Claimer--> outbox --Sender--> in flight --Receiver--> ready --Storer--> target
//                        ^                    |
//                        +---- halves, or after a pause
//
// Between two turns it holds nothing but memory, requests and the leases of the rows that it has
// claimed. Planner says what each queue may do next and when.
#pragma once

#include "core/pipeline/isolator.hpp"
#include "core/pipeline/poller.hpp"
#include "core/pipeline/receiver.hpp"
#include "core/pipeline/sender.hpp"
#include "core/pipeline/storer.hpp"
#include "core/pipeline/usage_reporter.hpp"

namespace ai::pipeline {

/// What a pipeline acts by. All of it outlives the pipeline.
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
struct InHand {
  std::size_t rows = 0;
  std::size_t requests = 0;           // in flight
  std::optional<QueueId> queue = {};  // of which it has most rows
};

/// What rows pass, and what is told of them.
struct Stations {
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
  /// What was in the way of queues may be gone.
  void EndBackOffs();

  /// Does what can be done without waiting for anybody.
  void Turn();

  /// How long nothing is to be done, the transport apart; never longer than the time given.
  std::chrono::milliseconds NextWait(std::chrono::milliseconds most) const;

  /// Stores what can be stored at once, cancels what is in flight and releases the rest, uncharged.
  void Stop(std::chrono::milliseconds most);
  /// Lets go of all that is in hand, in memory only; the rows are released later.
  void ForgetAll();

  InHand CountInHand() const;
  Tally TakeTally() { return std::exchange(tally_, {}); }
  const Queues& queues() const { return queues_; }
  const Planner& planner() const { return planner_; }
  SteadyTime NextPoll() const { return at_.poller.NextPoll(clock_.Now()); }

 private:
  void Claim();
  void ReleaseBarred();
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
  Stations at_;
};

}  // namespace ai::pipeline
