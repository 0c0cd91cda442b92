// The work that is pending in a database, by queue.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/source.hpp"

namespace ai::pipeline {

/// Published by a commit: a queue that it has written to.
using QueueEvent = std::uint32_t;

struct PollRequest {
  bool suspects = false;  // include rows that a process crashed with
  bool whole = false;     // read long queues completely
  /// Only these, or those that were written to; if unset, all queues, in slices ordered by id.
  std::optional<std::vector<QueueId>> queues = {};
  std::vector<QueueEvent> events = {};
  QueueId after = 0;  // the last queue of the previous slice
};

/// What is pending in a queue.
struct QueueReport {
  QueueId id = 0;
  std::string version = {};  // differs if the definition has changed
  OwnerId owner = 0;
  std::int32_t priority = 0;             // of its first row
  std::int32_t granted = 0;              // the same without the priorities of rows
  std::optional<Tid> first_change = {};  // where to begin scanning for changes
  bool whole = true;                     // the whole queue was read
  bool locked = false;                   // its tables are locked: no more is known
  std::optional<std::chrono::milliseconds> retry_in = {};
  std::optional<std::chrono::milliseconds> suspect_in = {};
  std::optional<std::chrono::milliseconds> pause_left = {};
};

struct PollResult {
  std::vector<QueueReport> queues = {};
  bool complete = true;  // this was the last slice
  /// The catalog of vectorizers is locked, so only queues of jobs are reported. Of the others only
  /// those named by events are known.
  bool locked = false;
  std::vector<QueueId> named = {};
};

class Backlog {
 public:
  Backlog() = default;
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  virtual ~Backlog() = default;

  /// A queue that no slice of a full poll reports was dropped or disabled, or has no jobs left.
  virtual PollResult Poll(const PollRequest& request) = 0;

  /// Null if there is no work left for it.
  virtual Step<std::unique_ptr<Source>> Open(QueueId queue) = 0;

  /// The pipeline has closed the queue.
  virtual void Closed(QueueId queue) = 0;

  /// Adds to the counters of a queue and its model.
  virtual Step<> AddUsage(QueueId queue, const std::string& model, const Usage& usage) = 0;

  /// Records an error of the queue as a whole, for its users. If that fails, it is recorded next
  /// time.
  virtual Step<> RecordError(QueueId queue, std::string_view step, const Failure& failure) = 0;

  /// Records that an open circuit breaker holds back the queue's requests.
  virtual Step<> RecordOpenBreaker(QueueId queue, const Opening& opening) = 0;
};

}  // namespace ai::pipeline
