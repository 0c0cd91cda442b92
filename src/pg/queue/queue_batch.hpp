// The keys that the current transaction has changed, on their way into the queue tables.
//
// Row triggers collect keys here; they reach the queue with one bulk insert at the end of the
// statement, when many have come together, or at the latest before commit. A key belongs to the
// subtransaction that changed its row and is written by it, so that both vanish or stay together.
//
// The hot path allocates nothing but the tuple itself; see queue_batch_pool.hpp.
#pragma once

#include "pg/queue/queue_route.hpp"

namespace ai::pg {

/// Registers the transaction callbacks. Called once, when the library is loaded.
void InstallQueueCallbacks();

/// Queues the row in slot. Called by row triggers.
void CollectKey(const QueueRoute& route, TupleTableSlot* slot);

/// Writes what the current subtransaction has collected.
void FlushQueueBatches();

}  // namespace ai::pg
