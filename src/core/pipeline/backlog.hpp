// What there is to do in a database, and for which queues.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/source.hpp"

namespace ai::pipeline {

/// What a commit names: a queue that it has written to.
using QueueEvent = std::uint32_t;

struct PollRequest {
  bool suspects = false;  // those that a process has died with, too
  bool whole = false;     // long queues from end to end
  /// Only these, or those that were written to; nothing: all queues, in slices by their ids.
  std::optional<std::vector<QueueId>> queues = {};
  std::vector<QueueEvent> events = {};
  QueueId after = 0;  // the next slice comes after it
};

/// A queue, and what is waiting there.
struct QueueReport {
  QueueId id = 0;
  std::string version = {};  // another one: the definition has changed
  OwnerId owner = 0;
  std::int32_t priority = 0;             // of the first of its rows
  std::int32_t granted = 0;              // the same without what rows say of themselves
  std::optional<Tid> first_change = {};  // where changes begin
  bool whole = true;                     // all of the queue was looked at
  bool locked = false;                   // somebody has locked its tables: no more is known
  std::optional<std::chrono::milliseconds> retry_in = {};
  std::optional<std::chrono::milliseconds> suspect_in = {};
  std::optional<std::chrono::milliseconds> pause_left = {};
};

struct PollResult {
  std::vector<QueueReport> queues = {};
  bool complete = true;  // there is no further slice
  /// Somebody has locked what tells of queues, but for those of jobs. All that is known then is
  /// which of them the events name.
  bool locked = false;
  std::vector<QueueId> named = {};
};

class Backlog {
 public:
  Backlog() = default;
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  virtual ~Backlog() = default;

  /// A queue that no slice of a poll of all reports is gone or disabled, or one of jobs without
  /// any.
  virtual PollResult Poll(const PollRequest& request) = 0;

  /// Null if there is nothing left to do for it.
  virtual Step<std::unique_ptr<Source>> Open(QueueId queue) = 0;

  /// The pipeline has forgotten the queue.
  virtual void Closed(QueueId queue) = 0;

  /// Adds to the counters of a queue and its model.
  virtual Step<> AddUsage(QueueId queue, const std::string& model, const Usage& usage) = 0;

  /// An error of a queue as a whole, for those who look at it. It may fail: then it is told the
  /// next time.
  virtual Step<> RecordError(QueueId queue, std::string_view step, const Failure& failure) = 0;

  /// An open circuit breaker keeps requests of a queue from going.
  virtual Step<> RecordOpenBreaker(QueueId queue, const Opening& opening) = 0;
};

}  // namespace ai::pipeline
