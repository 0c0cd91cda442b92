// The keys that the current transaction has changed, on their way into the queue tables.
//
// Row triggers collect keys here; they reach the queue with one bulk insert at the end of the
// statement, when many have come together, or at the latest before commit. A key belongs to the
// subtransaction that changed its row and is written by it, so that both vanish or stay together.
//
// Plain C structures in transaction memory: all of it is released by a rollback, and the hot path
// allocates nothing but the tuple itself.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// Keeps batches and transactions in step. Called once, when the library is loaded.
void InstallQueueCallbacks();

/// Where a trigger's keys go and where they come from.
struct QueueRoute {
  Oid queue;
  int key_count;
  AttrNumber source_columns[INDEX_MAX_KEYS];  // of the relation that fires the trigger
  AttrNumber priority_column;                 // the same; 0: rows have no priority of their own
  Oid priority_type;                          // of that column, without domain
};

/// Notes that the row in slot has to be looked at. Called by row triggers.
void CollectKey(const QueueRoute& route, TupleTableSlot* slot);

/// Writes what the current subtransaction has collected.
void FlushQueueBatches();

}  // namespace ai::pg
