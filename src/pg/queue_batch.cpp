// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "pg/queue_batch.hpp"

#include "core/policy/row_priority.hpp"
#include "pg/compat.hpp"
#include "pg/queue_notes.hpp"

namespace ai::pg {

namespace {

/// Rows for one queue, collected by one subtransaction. The queue's first columns are the keys, the
/// others get their defaults.
struct Batch {
  Batch* next;
  MemoryContext memory;      // of the batch itself
  MemoryContext row_memory;  // of its rows, emptied by each flush
  SubTransactionId subtransaction;
  Oid queue;
  TupleDesc descriptor;
  Datum* defaults;
  bool* default_nulls;
  HeapTuple* rows;
  int count;
};

constexpr int kMaxRows = 1000;
constexpr int kMaxColumns = 64;  // keys are at most INDEX_MAX_KEYS

Batch* batches = nullptr;  // below TopTransactionContext

[[noreturn]] void RefuseQueue(Oid queue) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("relation with OID %u is not the queue of a vectorizer", queue),
          errhint("Drop the vectorizer with ai.drop_vectorizer and create it again."));
  pg_unreachable();
}

/// Evaluates the defaults of all columns after the keys: what is stable in a transaction.
void FillDefaults(Batch* batch, Relation queue, int key_count) {
  const int columns = batch->descriptor->natts;
  batch->defaults = static_cast<Datum*>(palloc0(sizeof(Datum) * columns));
  batch->default_nulls = static_cast<bool*>(palloc0(sizeof(bool) * columns));
  EState* state = CreateExecutorState();
  for (int i = key_count; i < columns; ++i) {
    auto* expression = reinterpret_cast<Expr*>(build_column_default(queue, i + 1));
    batch->default_nulls[i] = true;
    if (expression == nullptr) {
      continue;
    }
    const Form_pg_attribute column = TupleDescAttr(batch->descriptor, i);
    const Datum value = ExecEvalExpr(ExecPrepareExpr(expression, state),
                                     GetPerTupleExprContext(state), &batch->default_nulls[i]);
    if (!batch->default_nulls[i]) {
      batch->defaults[i] = datumCopy(value, column->attbyval, column->attlen);
    }
  }
  FreeExecutorState(state);
}

Batch* MakeBatch(const QueueRoute& route) {
  Relation queue = table_open(route.queue, RowExclusiveLock);
  TupleDesc descriptor = RelationGetDescr(queue);
  if (descriptor->natts < route.key_count || descriptor->natts > kMaxColumns) {
    RefuseQueue(route.queue);
  }
  MemoryContext memory =
      AllocSetContextCreate(TopTransactionContext, "ai queue batch", ALLOCSET_SMALL_SIZES);
  MemoryContext caller = MemoryContextSwitchTo(memory);
  auto* batch = static_cast<Batch*>(palloc0(sizeof(Batch)));
  batch->memory = memory;
  batch->row_memory = AllocSetContextCreate(memory, "ai queue rows", ALLOCSET_DEFAULT_SIZES);
  batch->subtransaction = GetCurrentSubTransactionId();
  batch->queue = route.queue;
  batch->descriptor = CreateTupleDescCopy(descriptor);
  batch->rows = static_cast<HeapTuple*>(palloc(sizeof(HeapTuple) * kMaxRows));
  FillDefaults(batch, queue, route.key_count);
  batch->next = batches;
  batches = batch;
  MemoryContextSwitchTo(caller);
  table_close(queue, NoLock);
  return batch;
}

Batch* BatchFor(const QueueRoute& route) {
  const SubTransactionId current = GetCurrentSubTransactionId();
  for (Batch* batch = batches; batch != nullptr; batch = batch->next) {
    if (batch->queue == route.queue && batch->subtransaction == current) {
      return batch;
    }
  }
  return MakeBatch(route);
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

/// One bulk insert of the batch's rows, indexes included. The queue may have been dropped since, by
/// a subtransaction of the one that collected the rows; then nobody wants them any more.
void InsertRows(Batch* batch) {
  Relation queue = try_table_open(batch->queue, RowExclusiveLock);
  if (queue == nullptr) {
    return;
  }
  EState* state = CreateExecutorState();
  MemoryContext caller = MemoryContextSwitchTo(state->es_query_cxt);
  ResultRelInfo* target = makeNode(ResultRelInfo);
  InitResultRelInfo(target, queue, 0, nullptr, 0);
  ExecOpenIndices(target, false);

  auto** slots = static_cast<TupleTableSlot**>(palloc(sizeof(TupleTableSlot*) * batch->count));
  for (int i = 0; i < batch->count; ++i) {
    slots[i] = MakeSingleTupleTableSlot(batch->descriptor, &TTSOpsHeapTuple);
    ExecStoreHeapTuple(batch->rows[i], slots[i], false);
  }
  table_multi_insert(queue, slots, batch->count, GetCurrentCommandId(true), 0, nullptr);
  for (int i = 0; i < batch->count; ++i) {
    InsertIndexTuples(target, slots[i], state);
    ResetPerTupleExprContext(state);
    ExecDropSingleTupleTableSlot(slots[i]);
  }

  ExecCloseIndices(target);
  MemoryContextSwitchTo(caller);
  FreeExecutorState(state);
  table_close(queue, NoLock);
}

void Flush(Batch* batch) {
  if (batch->count == 0) {
    return;
  }
  InsertRows(batch);
  NoteQueueWritten(batch->queue);
  batch->count = 0;
  MemoryContextReset(batch->row_memory);
}

void Forget(SubTransactionId subtransaction) {
  for (Batch** link = &batches; *link != nullptr;) {
    Batch* batch = *link;
    if (batch->subtransaction == subtransaction) {
      *link = batch->next;
      MemoryContextDelete(batch->memory);
    } else {
      link = &batch->next;
    }
  }
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
      batches = nullptr;
      break;
    default:
      break;
  }
}

void OnSubtransactionEvent(SubXactEvent event, SubTransactionId subtransaction, SubTransactionId,
                           void*) {
  if (batches == nullptr) {
    return;
  }
  if (event == SUBXACT_EVENT_PRE_COMMIT_SUB) {
    FlushQueueBatches();
    Forget(subtransaction);
  } else if (event == SUBXACT_EVENT_ABORT_SUB) {
    Forget(subtransaction);
  }
}

}  // namespace

void InstallQueueCallbacks() {
  RegisterXactCallback(OnTransactionEvent, nullptr);
  RegisterSubXactCallback(OnSubtransactionEvent, nullptr);
}

void CollectKey(const QueueRoute& route, TupleTableSlot* slot) {
  Batch* batch = BatchFor(route);
  const int columns = batch->descriptor->natts;
  Datum values[kMaxColumns];
  bool nulls[kMaxColumns];
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
  if (batch->count == kMaxRows) {
    Flush(batch);
  }
}

void FlushQueueBatches() {
  const SubTransactionId current = GetCurrentSubTransactionId();
  for (Batch* batch = batches; batch != nullptr; batch = batch->next) {
    if (batch->subtransaction == current) {
      Flush(batch);
    }
  }
}

}  // namespace ai::pg
