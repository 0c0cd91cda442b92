// Places of rows in the table of work, as sets and as arrays for statements.
#pragma once

#include <map>
#include <set>

#include "pg/datum.hpp"
#include "worker/row.hpp"

namespace ai::worker {

struct PlaceOrder {
  bool operator()(const Place& left, const Place& right) const {
    return ItemPointerCompare(const_cast<Place*>(&left), const_cast<Place*>(&right)) < 0;
  }
};

using PlaceSet = std::set<Place, PlaceOrder>;

/// A tid[] that is good as long as the places are.
inline Datum PlacesDatum(std::span<const Place> places) {
  std::vector<Datum> elements;
  elements.reserve(places.size());
  for (const Place& place : places) {
    elements.push_back(pg::TidDatum(&place));
  }
  return pg::ArrayDatum(TIDOID, elements);
}

inline std::vector<Place> PlacesOf(std::span<const RowPtr> rows) {
  std::vector<Place> places;
  places.reserve(rows.size());
  for (const RowPtr& row : rows) {
    places.push_back(row->place);
  }
  return places;
}

}  // namespace ai::worker
