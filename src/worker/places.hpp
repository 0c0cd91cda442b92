// Places of rows in the table of work, as sets and as arrays for statements.
#pragma once

#include <map>
#include <set>

#include "pg/datum.hpp"
#include "pg/spi.hpp"
#include "worker/source.hpp"

namespace ai::worker {

struct Lane;

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

/// Throws LostPlaces if the places that the lane holds are not good any more. In a transaction,
/// after which the table is locked against that until the end of it.
void CheckPlaces(const Lane& lane);

/// Those of places that are not among the reads.
std::vector<Place> NotRead(std::span<const Place> places, std::span<const Read> reads);

/// What is on disk for a table now; another number means that it was rewritten.
struct File {
  Oid number;
  BlockNumber blocks;
};
File FileOf(Oid table);

/// Claims come one by one, so that every claimer sees what the others have, and none comes while
/// there is a pause. For a table of work and the number of its vectorizer, 0 for jobs; till the end
/// of the transaction.
Taken LockClaims(pg::Spi& spi, Oid work, std::int32_t vectorizer);

/// The hash in a bytea; zeros if there is none.
policy::ContentHash HashOf(std::optional<Datum> bytea);

}  // namespace ai::worker
