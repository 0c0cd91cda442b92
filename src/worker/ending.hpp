// Ending the hold on rows that were not written: given back, to be tried again, given up. Each is a
// transaction of its own; rows that another process has by now are left alone.
#pragma once

#include "core/failure.hpp"
#include "worker/lane.hpp"

namespace ai::worker {

/// Uncharged; others may take the rows after the delay.
void GiveBackRows(Lane& lane, Datum lease, std::span<const Place> places,
                  std::chrono::milliseconds delay);

/// All that this process has of the vectorizer.
void GiveBackAll(Vectorizer& vectorizer, Datum lease);

/// One attempt is used up: rows that have more are tried again later, the others are given up.
/// base is the delay after the first attempt; it doubles with each.
void TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
              const Failure& failure, std::chrono::milliseconds base);

/// Moves rows to the table of failed ones, with an error for each.
void GiveUp(Lane& lane, Datum lease, std::span<const Place> places, std::string_view step,
            const Failure& failure);

/// An error of the vectorizer as a whole.
void RecordError(std::int32_t vectorizer, const std::string& lease, std::string_view step,
                 const Failure& failure);

}  // namespace ai::worker
