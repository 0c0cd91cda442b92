// Events from commits to the workers of their database: which queues they wrote to. Published by
// wake.cpp, taken by each worker with its own cursor.
//
// INVARIANT: take events first, then poll the queues in a transaction that begins afterwards. A
// commit is visible before it publishes: what a poll has missed arrives as a later event.
#pragma once

#include "pg/queue/queue_notes.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// What has changed since the worker last took events.
struct QueueEvents {
  bool everything = false;  // vectorizers, pauses, providers; or an overflow
  bool jobs = false;        // embedding jobs
  std::vector<Oid> queues;  // each once; some may belong to vectorizers not known yet

  bool empty() const noexcept { return !everything && !jobs && queues.empty(); }
};

/// Advances the cursor, which starts at 0.
QueueEvents TakeEvents(EventRing& ring, EventRing::Cursor& cursor);

/// During its lifetime the worker with this number sleeps or is about to: events wake it.
///
/// INVARIANT: no wake-up is lost. A worker sets its bit, then checks for events; a commit
/// publishes, then checks the bits. All four steps are sequentially consistent, so one side sees
/// the other: either the worker does not sleep or its latch is set. Whoever wakes a worker clears
/// its bit, so that others need not.
class SleepScope final {
 public:
  SleepScope(DatabaseSlot& slot, int number) noexcept
      : sleeping_(slot.sleeping), bit_(std::uint32_t{1} << number) {
    sleeping_.fetch_or(bit_);
  }
  ~SleepScope() { sleeping_.fetch_and(~bit_); }
  SleepScope(const SleepScope&) = delete;
  SleepScope& operator=(const SleepScope&) = delete;

 private:
  std::atomic<std::uint32_t>& sleeping_;
  const std::uint32_t bit_;
};

}  // namespace ai::worker
