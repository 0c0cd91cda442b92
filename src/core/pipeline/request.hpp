// Chunks that go to a provider together: in flight, or to be sent again.
#pragma once

#include "core/clock.hpp"
#include "core/pipeline/source.hpp"
#include "core/policy/blame.hpp"

namespace ai::pipeline {

struct Request {
  std::vector<Item> items;
  Route route;
  std::optional<Permit> permit = std::nullopt;  // while it is in flight
  int failures = 0;                             // of its rows since they were claimed
  policy::FailingSince failing = {};            // since when they do
  SteadyTime not_before = {};
  bool may_shrink = false;  // its reply may rightly be larger than we take

  /// Each row once.
  std::vector<RowPtr> Rows() const {
    std::vector<RowPtr> rows;
    for (const Item& item : items) {
      if (rows.empty() || rows.back() != item.row) {
        rows.push_back(item.row);
      }
    }
    return rows;
  }

  /// Removes the items of rows that are over. True if there were some.
  bool RemoveOver() {
    return std::erase_if(items, [](const Item& item) { return item.row->over; }) > 0;
  }

  /// Cuts off what comes from an item on: a request of its own, with the same past.
  Request CutOff(std::vector<Item>::iterator from) {
    Request rest{
        .items = {from, items.end()}, .route = route, .failures = failures, .failing = failing};
    items.erase(from, items.end());
    return rest;
  }
};

}  // namespace ai::pipeline
