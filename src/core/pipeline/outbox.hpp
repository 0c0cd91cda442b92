// What has to be sent for one queue: chunks not sent yet, and requests to retry.
#pragma once

#include <deque>
#include <list>

#include "core/interrupt.hpp"
#include "core/pipeline/demand.hpp"
#include "core/pipeline/request.hpp"

namespace ai::pipeline {

class Outbox final {
 public:
  /// Adds the chunks of a row that have no vector yet. Returns how many others it has.
  std::int64_t Add(const RowPtr& row);
  /// As many chunks as fit into one request. Counts those that are truncated to fit.
  std::vector<Item> NextBatch(const SourceTraits& source, std::size_t most,
                              InterruptCheck interrupt, std::int64_t& truncated);
  /// Puts back chunks that were taken for a batch and not sent: they come first.
  void PutBack(std::span<const Item> items);
  /// Removes and returns rows of which nothing was sent yet.
  std::vector<RowPtr> TakeUnstarted();
  std::size_t unsent() const { return unsent_.size(); }

  /// Retries a request after a delay.
  void Delay(Request request, SteadyTime not_before);
  /// Those that are due.
  std::list<Request> TakeDelayed(SteadyTime now);
  const std::list<Request>& delayed() const { return delayed_; }
  /// Removes what was to be sent for rows that have ended.
  void RemoveEnded();

  void SetRoute(std::optional<Route> route, SteadyTime now);
  const std::optional<Route>& route() const { return route_; }
  SteadyTime route_found() const { return route_found_; }

  /// Limits further requests to so many texts, because replies to more are too large.
  void LimitBatch(std::size_t items);
  std::size_t BatchSize(const SourceTraits& source) const;

  void OnSent() { ++in_flight_; }
  void OnEnded() { --in_flight_; }
  std::size_t in_flight() const { return in_flight_; }
  /// Requests that count towards the queue's limit.
  std::size_t used() const { return in_flight_ + delayed_.size(); }

  bool is_empty() const { return unsent_.empty() && used() == 0; }
  void Clear();

  policy::FailingSince failing = {};  // since when all of its requests fail
  std::size_t kept_requests = 0;      // reserved by this worker

 private:
  std::deque<Item> unsent_;
  std::list<Request> delayed_;
  std::optional<Route> route_;
  SteadyTime route_found_ = {};
  std::optional<std::size_t> max_items_;
  std::size_t in_flight_ = 0;
};

}  // namespace ai::pipeline
