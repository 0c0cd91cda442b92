// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "pg/queue/queue_batch.hpp"

#include "core/policy/row_priority.hpp"
#include "pg/compat.hpp"
#include "pg/queue/queue_batch_pool.hpp"
#include "pg/queue/queue_notes.hpp"

namespace ai::pg {

namespace {

QueueBatch* BatchFor(const QueueRoute& route) {
  const SubTransactionId current = GetCurrentSubTransactionId();
  for (QueueBatch* batch = FirstBatch(); batch != nullptr; batch = batch->next) {
    if (batch->queue == route.queue && batch->subtransaction == current) {
      return batch;
    }
  }
  return TakeBatch(route.queue, route.key_count);
}

int PriorityOf(const QueueRoute& route, TupleTableSlot* slot) {
  bool is_null = false;
  const Datum value = slot_getattr(slot, route.priority_column, &is_null);
  if (is_null) {
    return 0;
  }
  switch (route.priority_type) {
    case INT2OID:
      return DatumGetInt16(value);
    case INT4OID:
      return policy::ClampPriority(DatumGetInt32(value));
    case INT8OID:
      return policy::ClampPriority(DatumGetInt64(value));
    case NAMEOID:
      return policy::RowPriority(NameStr(*DatumGetName(value)));
    case ANYENUMOID:
      return policy::RowPriority(DatumGetCString(DirectFunctionCall1(enum_out, value)));
    default: {
      const text* word = DatumGetTextPP(value);
      return policy::RowPriority({VARDATA_ANY(word), VARSIZE_ANY_EXHDR(word)});
    }
  }
}

/// One bulk insert of the batch's rows, indexes included.
void InsertRows(Relation queue, const QueueBatch& batch) {
  EState* state = CreateExecutorState();
  MemoryContext caller = MemoryContextSwitchTo(state->es_query_cxt);
  ResultRelInfo* target = makeNode(ResultRelInfo);
  InitResultRelInfo(target, queue, 0, nullptr, 0);
  ExecOpenIndices(target, false);

  auto** slots = static_cast<TupleTableSlot**>(palloc(sizeof(TupleTableSlot*) * batch.count));
  for (int i = 0; i < batch.count; ++i) {
    slots[i] = MakeSingleTupleTableSlot(batch.descriptor, &TTSOpsHeapTuple);
    ExecStoreHeapTuple(batch.rows[i], slots[i], false);
  }
  table_multi_insert(queue, slots, batch.count, GetCurrentCommandId(true), 0, nullptr);
  for (int i = 0; i < batch.count; ++i) {
    InsertIndexTuples(target, slots[i], state);
    ResetPerTupleExprContext(state);
    ExecDropSingleTupleTableSlot(slots[i]);
  }

  ExecCloseIndices(target);
  MemoryContextSwitchTo(caller);
  FreeExecutorState(state);
}

/// A single row of a user's transaction: the executor's state would cost more than the row.
void InsertRow(Relation queue, const QueueBatch& batch) {
  ExecStoreHeapTuple(batch.rows[0], batch.slot, false);
  table_tuple_insert(queue, batch.slot, GetCurrentCommandId(true), 0, nullptr);
  ExecClearTuple(batch.slot);
}

/// The queue may have been dropped since, by a subtransaction of the one that collected the rows;
/// then they are discarded.
void Flush(QueueBatch* batch) {
  if (batch->count == 0) {
    return;
  }
  if (Relation queue = try_table_open(batch->queue, RowExclusiveLock); queue != nullptr) {
    if (batch->count == 1 && !queue->rd_rel->relhasindex) {
      InsertRow(queue, *batch);
    } else {
      InsertRows(queue, *batch);
    }
    table_close(queue, NoLock);
    NoteQueueWritten(batch->queue);
  }
  batch->count = 0;
  MemoryContextReset(batch->row_memory);
}

void OnTransactionEvent(XactEvent event, void*) {
  switch (event) {
    case XACT_EVENT_PRE_COMMIT:
    case XACT_EVENT_PRE_PREPARE:
      FlushQueueBatches();
      break;
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_ABORT:
    case XACT_EVENT_PREPARE:
      ReturnAllBatches();
      break;
    default:
      break;
  }
}

void OnSubtransactionEvent(SubXactEvent event, SubTransactionId subtransaction, SubTransactionId,
                           void*) {
  if (event == SUBXACT_EVENT_PRE_COMMIT_SUB) {
    FlushQueueBatches();
    ReturnBatches(subtransaction);
  } else if (event == SUBXACT_EVENT_ABORT_SUB) {
    ReturnBatches(subtransaction);
  }
}

}  // namespace

void InstallQueueCallbacks() {
  InstallBatchPool();
  RegisterXactCallback(OnTransactionEvent, nullptr);
  RegisterSubXactCallback(OnSubtransactionEvent, nullptr);
}

void CollectKey(const QueueRoute& route, TupleTableSlot* slot) {
  QueueBatch* batch = BatchFor(route);
  const int columns = batch->descriptor->natts;
  Datum values[kMaxQueueColumns];
  bool nulls[kMaxQueueColumns];
  std::memcpy(values, batch->defaults, sizeof(Datum) * columns);
  std::memcpy(nulls, batch->default_nulls, sizeof(bool) * columns);
  for (int i = 0; i < route.key_count; ++i) {
    values[i] = slot_getattr(slot, route.source_columns[i], &nulls[i]);
  }
  if (route.priority_column != 0) {
    // The queue's columns are the keys, the time, the priority.
    Datum& priority = values[route.key_count + 1];
    priority =
        Int16GetDatum(policy::ClampPriority(DatumGetInt16(priority) + PriorityOf(route, slot)));
  }
  MemoryContext caller = MemoryContextSwitchTo(batch->row_memory);
  batch->rows[batch->count++] = heap_form_tuple(batch->descriptor, values, nulls);
  MemoryContextSwitchTo(caller);
  if (batch->count == kMaxBatchRows) {
    Flush(batch);
  }
}

void FlushQueueBatches() {
  const SubTransactionId current = GetCurrentSubTransactionId();
  for (QueueBatch* batch = FirstBatch(); batch != nullptr; batch = batch->next) {
    if (batch->subtransaction == current) {
      Flush(batch);
    }
  }
}

}  // namespace ai::pg
