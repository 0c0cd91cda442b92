// What commits tell the workers of their database: which queues they wrote to. Published by
// wake.cpp, taken by each worker with a cursor of its own.
//
// INVARIANT: take first, then look at the queues, in a transaction that begins after it. A commit
// is visible before it publishes: what a look has missed comes as an event after it.
#pragma once

#include "pg/queue_notes.hpp"
#include "worker/shared_state.hpp"

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

}  // namespace ai::worker
