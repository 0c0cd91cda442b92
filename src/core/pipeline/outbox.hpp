// What has to be sent for one queue: chunks that never were, and requests that are sent again.
#pragma once

#include <deque>
#include <list>

#include "core/interrupt.hpp"
#include "core/pipeline/demand.hpp"
#include "core/pipeline/request.hpp"

namespace ai::pipeline {

class Outbox final {
 public:
  /// The chunks of a row that have no vector yet. Returns how many others there are.
  std::int64_t Add(const RowPtr& row);
  /// As many chunks as fit into one request. Counts those that are cut to fit.
  std::vector<Item> NextBatch(const SourceTraits& source, std::size_t most,
                              InterruptCheck interrupt, std::int64_t& truncated);
  /// Chunks that were taken for a batch and not sent: they come next.
  void PutBack(std::span<const Item> items);
  /// Takes rows out of which nothing was sent yet.
  std::vector<RowPtr> TakeUnbegun();
  std::size_t unsent() const { return unsent_.size(); }

  /// To be sent again after a delay.
  void Delay(Request request, SteadyTime not_before);
  /// Those whose time has come.
  std::list<Request> TakeDelayed(SteadyTime now);
  const std::list<Request>& delayed() const { return delayed_; }
  /// Forgets what was to be sent for rows that are over.
  void RemoveOver();

  void SetRoute(std::optional<Route> route, SteadyTime now);
  const std::optional<Route>& route() const { return route_; }
  SteadyTime route_found() const { return route_found_; }

  /// Further requests have no more texts: replies to more are too large.
  void LimitBatch(std::size_t items);
  std::size_t BatchSize(const SourceTraits& source) const;

  void OnSent() { ++in_flight_; }
  void OnEnded() { --in_flight_; }
  std::size_t in_flight() const { return in_flight_; }
  /// Requests that count against the limit of the queue.
  std::size_t used() const { return in_flight_ + delayed_.size(); }

  bool is_empty() const { return unsent_.empty() && used() == 0; }
  void Clear();

  policy::FailingSince failing = {};  // all of its requests
  std::size_t kept_requests = 0;      // that it may have in flight, of all the database's workers

 private:
  std::deque<Item> unsent_;
  std::list<Request> delayed_;
  std::optional<Route> route_;
  SteadyTime route_found_ = {};
  std::optional<std::size_t> max_items_;
  std::size_t in_flight_ = 0;
};

}  // namespace ai::pipeline
