// Chunks that are sent to a provider together: in flight, or waiting for a retry.
#pragma once

#include "core/clock.hpp"
#include "core/pipeline/source.hpp"
#include "core/policy/blame.hpp"

namespace ai::pipeline {

struct Request {
  std::vector<Item> items;
  Route route;
  std::optional<Permit> permit = std::nullopt;  // while in flight
  int failures = 0;                             // of its rows since they were claimed
  policy::FailingSince failing = {};            // since when they fail
  SteadyTime not_before = {};
  bool may_shrink = false;  // its reply may legitimately exceed our limit

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

  /// Removes the items of rows that have ended. True if there were any.
  bool RemoveEnded() {
    return std::erase_if(items, [](const Item& item) { return item.row->ended; }) > 0;
  }

  /// Splits off the items from the given one on, as a request with the same history.
  Request CutOff(std::vector<Item>::iterator from) {
    Request rest{
        .items = {from, items.end()}, .route = route, .failures = failures, .failing = failing};
    items.erase(from, items.end());
    return rest;
  }
};

}  // namespace ai::pipeline
