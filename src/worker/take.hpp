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

/// Which rows to take.
enum class Wanted : std::uint8_t {
  kChanges,   // from the queue
  kRetries,   // those whose time has come, then changes
  kSuspects,  // that a process has died with: one that two have died with, or else a small group
};

struct Taken {
  bool busy = false;  // another worker is just taking rows
  std::optional<std::chrono::milliseconds> pause_left;
};

/// Takes up to so many rows into lane.unread, unless this worker or the vectorizer is paused.
Taken TakeRows(Lane& lane, Datum lease, std::size_t most, Wanted wanted);

/// A count of milliseconds from the database, never early: who looks before the time finds nothing.
std::chrono::milliseconds RoundedUp(double count);

/// Reads rows of lane.unread, as the owner of the source, until there are none or their texts have
/// so many bytes together.
std::vector<Read> ReadRows(Lane& lane, std::size_t bytes);

/// The vectors that the target has for these hashes: of the rows themselves, or with reuse of any
/// row.
std::vector<std::pair<policy::ContentHash, VectorOf>> FindVectors(
    Vectorizer& vectorizer, std::span<const Place> places,
    std::span<const policy::ContentHash> hashes);

}  // namespace ai::worker
