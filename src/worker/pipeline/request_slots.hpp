// How many requests of a vectorizer may be under way, in all workers of a database together.
//
// Each worker notes in shared memory how many it has for itself; the sum of all that live is what
// is taken. So nothing is left over when a worker dies: its note goes with it. A worker gets its
// slots before it takes rows, and no row waits in a worker that has none.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

class RequestSlots final {
 public:
  /// Of this process, which has none yet.
  RequestSlots();

  /// Keeps so many slots for a vectorizer, or as many as the others have left of the limit. Returns
  /// how many there are now.
  std::size_t Keep(std::int32_t vectorizer, std::size_t wanted, std::size_t limit);

 private:
  DatabaseSlot& database_;
  WorkerSlot& mine_;
};

}  // namespace ai::worker
