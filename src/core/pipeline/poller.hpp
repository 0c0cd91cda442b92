// Polls for work: immediately for queues that a commit has written to; for all queues when
// something else has changed, and periodically in case an event was missed.
#pragma once

#include <set>

#include "core/pipeline/leases.hpp"

namespace ai::pipeline {

class Poller final {
 public:
  Poller(const Clock& clock, const Settings& settings, Backlog& backlog, Peers& peers,
         Queues& queues, Leases& leases)
      : clock_(clock),
        settings_(settings),
        backlog_(backlog),
        peers_(peers),
        queues_(queues),
        leases_(leases) {}

  /// Commits have written to these queues.
  void Notify(std::span<const QueueEvent> events);
  /// Anything may have changed.
  void NotifyAll();

  /// Polls what is due; a full poll, one slice at a time.
  void Run();
  SteadyTime NextPoll(SteadyTime now) const;

 private:
  bool PollNamed();
  void PollSlice();
  void PollWhole();
  std::chrono::milliseconds FullPollInterval() const;
  bool Poll(const PollRequest& request, bool& complete, std::set<QueueId>* seen);
  bool KnowsSuspects() const;
  bool WantsSuspects();
  void Take(const QueueReport& report, SteadyTime now);
  void ForgetUnseen(const std::set<QueueId>& seen);

  const Clock& clock_;
  const Settings& settings_;
  Backlog& backlog_;
  Peers& peers_;
  Queues& queues_;
  Leases& leases_;
  std::set<QueueEvent> events_;
  struct {
    bool wanted = true;      // a poll of all queues
    bool under_way = false;  // some slices are done
    bool suspects = false;   // are included
    QueueId after = 0;       // of the last slice
    std::set<QueueId> seen = {};
    SteadyTime next = {};               // at the latest
    std::chrono::nanoseconds taken{0};  // by the slices
  } all_;
  struct {
    bool wanted = false;  // the last poll read only the ends of long queues
    bool under_way = false;
    QueueId after = 0;
    SteadyTime next = {};
    std::chrono::nanoseconds taken{0};  // by the slices so far
  } whole_;
  struct {
    std::uint32_t crashes_seen = 0;
    SteadyTime next = {};
  } suspects_;
  SteadyTime not_before_ = {};  // what has to be read is locked
};

}  // namespace ai::pipeline
