// Taking rows: from the queue, or from those whose time to be tried again has come; and reading
// their texts. Short transactions; the rows are with this worker when they have committed.
#pragma once

#include "worker/lane.hpp"

namespace ai::worker {

/// A row as it was read, before it is cut into chunks.
struct Read {
  Place place;
  std::int32_t attempts = 0;
  std::optional<std::string> text;
  std::vector<std::optional<std::string>> columns;                       // of the template
  std::vector<std::pair<std::int32_t, policy::ContentHash>> old_chunks;  // by their numbers
};

/// The table of work was rewritten (VACUUM FULL, for one): no place in it can be told any more.
struct LostPlaces final : std::exception {
  const char* what() const noexcept override { return "the table of work was rewritten"; }
};

/// Throws LostPlaces if the places that the lane holds are not good any more. In a transaction,
/// after which the table is locked against that until the end of it.
void CheckPlaces(const Lane& lane);

/// Takes up to so many rows into lane.unread, with retries first those whose time has come. False
/// if another worker is just doing that.
bool TakeRows(Lane& lane, Datum lease, std::size_t most, bool retries);

/// Reads rows of lane.unread, as the owner of the source, until there are none or their texts have
/// so many bytes together.
std::vector<Read> ReadRows(Lane& lane, std::size_t bytes);

/// The vectors that the target has for these hashes: of the rows themselves, or with reuse of any
/// row.
std::vector<std::pair<policy::ContentHash, VectorOf>> FindVectors(
    Vectorizer& vectorizer, std::span<const Place> places,
    std::span<const policy::ContentHash> hashes);

}  // namespace ai::worker
