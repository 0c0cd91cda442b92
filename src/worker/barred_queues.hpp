// Queues that no worker may take rows from now, since their vectorizer is paused or off. Commits to
// them wake nobody.
//
// A worker that is told of a queue asks once whether it is one of them, and notes it in shared
// memory, with the number of changes of the catalog that had been told when it asked.
// INVARIANT: a note counts only until the next such change, and a minute at most. So whoever ends a
// pause needs to know nothing of it: the commit tells that the catalog has changed, which makes all
// notes void, then wakes the workers.
#pragma once

#include <map>

#include "worker/queue_events.hpp"

namespace ai::worker {

/// For commits: whether nobody needs to be woken for a queue.
bool IsBarred(const DatabaseSlot& slot, Oid queue) noexcept;

/// What a worker knows of them.
class BarredQueues final {
 public:
  explicit BarredQueues(DatabaseSlot& slot) : slot_(slot) {}

  /// Asks for the queues that it was told of and does not know. Not in a transaction.
  void Look(const QueueEvents& events, SteadyTime now);

 private:
  void Ask(std::span<const Datum> queues, SteadyTime now);
  void Note(Oid queue, std::uint32_t changes, SteadyTime until);

  DatabaseSlot& slot_;
  std::uint32_t changes_ = 0;            // of the catalog, when the first one was asked for
  std::map<Oid, SteadyTime> ask_again_;  // when
};

}  // namespace ai::worker
