// How many requests of a vectorizer may be in flight, across all workers of a database.
//
// Each worker records in shared memory how many it has reserved; the sum over all live workers is
// what is in use. So nothing leaks when a worker crashes. A worker reserves its slots before it
// claims rows, so no row waits in a worker that has none.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

class RequestSlots final {
 public:
  /// For this process, which has none yet.
  RequestSlots();

  /// Reserves so many slots for a vectorizer, or as many as the others leave within the limit.
  /// Returns the number reserved.
  std::size_t Keep(std::int32_t vectorizer, std::size_t wanted, std::size_t limit);

 private:
  DatabaseSlot& database_;
  WorkerSlot& mine_;
};

}  // namespace ai::worker
