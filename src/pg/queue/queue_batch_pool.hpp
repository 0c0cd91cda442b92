// The batches that queue_batch.hpp collects keys in. To make one costs more than all the rest of a
// single row's way to the queue, so a session keeps a few for its next transactions.
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
  SubTransactionId subtransaction;  // InvalidSubTransactionId: it is kept for the next one
  Oid queue;
  bool is_outdated;  // the queue may be another one by now
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

/// Has batches forgotten whose queue has changed. Called once, when the library is loaded.
void InstallBatchPool();

/// All batches, those that are not in use too.
QueueBatch* FirstBatch() noexcept;

/// An empty batch for a queue that the current subtransaction has locked.
QueueBatch* TakeBatch(Oid queue, int key_count);

/// Empties the batches of a subtransaction, or of all, and gives them back. Does not fail.
void ReturnBatches(SubTransactionId subtransaction) noexcept;
void ReturnAllBatches() noexcept;

}  // namespace ai::pg
