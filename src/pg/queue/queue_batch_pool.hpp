// The batches that queue_batch.hpp collects keys in. Creating one costs more than everything else
// in queueing a single row, so a session keeps a few for its next transactions.
//
// Plain C structures, each in a memory context of its own.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// Rows for one queue, collected by one subtransaction. The queue's first columns are the keys, the
/// others get their defaults.
struct QueueBatch {
  QueueBatch* next;                 // of all
  MemoryContext memory;             // of the batch itself
  MemoryContext row_memory;         // of its rows, emptied by each flush
  SubTransactionId subtransaction;  // InvalidSubTransactionId: not in use
  Oid queue;
  bool is_outdated;  // the queue may have changed
  TupleDesc descriptor;
  TupleTableSlot* slot;  // for a row that comes alone
  Expr** expressions;    // of defaults that are not constant, or null
  Datum* defaults;       // as of the current transaction
  bool* default_nulls;
  HeapTuple* rows;
  int count;
};

inline constexpr int kMaxBatchRows = 1000;
inline constexpr int kMaxQueueColumns = 64;  // keys are at most INDEX_MAX_KEYS

/// Registers the invalidation of batches whose queue has changed. Called once, when the library is
/// loaded.
void InstallBatchPool();

/// All batches, including those not in use.
QueueBatch* FirstBatch() noexcept;

/// An empty batch for a queue that the current subtransaction has locked.
QueueBatch* TakeBatch(Oid queue, int key_count);

/// Empties the batches of a subtransaction, or of all, and returns them to the pool. Cannot fail.
void ReturnBatches(SubTransactionId subtransaction) noexcept;
void ReturnAllBatches() noexcept;

}  // namespace ai::pg
