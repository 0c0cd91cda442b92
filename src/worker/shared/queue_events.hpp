// What commits tell the workers of their database: which queues they wrote to. Published by
// wake.cpp, taken by each worker with a cursor of its own.
//
// INVARIANT: take first, then look at the queues, in a transaction that begins after it. A commit
// is visible before it publishes: what a look has missed comes as an event after it.
#pragma once

#include "pg/queue/queue_notes.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// What has changed since a worker last asked.
struct QueueEvents {
  bool everything = false;  // vectorizers, pauses, providers; or more than can be told
  bool jobs = false;        // embedding jobs
  std::vector<Oid> queues;  // each once, in no order; some may be of vectorizers that are not known

  bool empty() const noexcept { return !everything && !jobs && queues.empty(); }
};

/// Moves the cursor, which is 0 at first.
QueueEvents TakeEvents(EventRing& ring, EventRing::Cursor& cursor);

/// While it lives, the worker with this number sleeps, or is about to: events wake it.
///
/// INVARIANT: no wake is lost. A worker says that it sleeps, then looks whether there are events; a
/// commit publishes, then looks who sleeps. All four are sequentially consistent, so that one of
/// the two sees the other: the worker does not sleep, or its latch is set. Who wakes a worker takes
/// its bit, so that others save themselves the trouble.
class Asleep final {
 public:
  Asleep(DatabaseSlot& slot, int number) noexcept
      : sleeping_(slot.sleeping), bit_(std::uint32_t{1} << number) {
    sleeping_.fetch_or(bit_);
  }
  ~Asleep() { sleeping_.fetch_and(~bit_); }
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;

 private:
  std::atomic<std::uint32_t>& sleeping_;
  const std::uint32_t bit_;
};

}  // namespace ai::worker
