// Writing rows whose vectors are all there: chunks, counters and the end of the hold on the rows,
// in one transaction.
#pragma once

#include "worker/lane.hpp"

namespace ai::worker {

/// Some of the rows are with another process by now; nothing was written.
struct LostLease final : std::exception {
  const char* what() const noexcept override { return "rows were taken back"; }
};

/// Writes what still exists and removes what does not. Returns the rows that somebody else has
/// locked, which stay in hand. Throws LostLease, LostPlaces, pg::Error; then nothing was written.
std::vector<RowPtr> StoreRows(Lane& lane, Datum lease, const std::string& lease_text,
                              std::span<const RowPtr> rows);

/// Those of the rows that this process still has.
std::vector<RowPtr> StillHeld(Lane& lane, Datum lease, std::span<const RowPtr> rows);

}  // namespace ai::worker
