// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "pg/queue/queue_batch_pool.hpp"

namespace ai::pg {

namespace {

constexpr int kMaxKept = 8;

QueueBatch* batches = nullptr;

bool IsInUse(const QueueBatch& batch) {
  return batch.subtransaction != InvalidSubTransactionId;
}

[[noreturn]] void RefuseQueue(Oid queue) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("relation with OID %u is not the queue of a vectorizer", queue),
          errhint("Drop the vectorizer with ai.drop_vectorizer and create it again."));
  pg_unreachable();
}

/// A batch in use stays valid: its transaction holds a lock on the queue.
void OnRelationChange(Datum /*argument*/, Oid relation) {
  for (QueueBatch* batch = batches; batch != nullptr; batch = batch->next) {
    batch->is_outdated = batch->is_outdated || relation == InvalidOid || relation == batch->queue;
  }
}

/// Reads the defaults of all columns after the keys: a constant is kept as it is.
void ReadDefaults(QueueBatch* batch, Relation queue, int key_count) {
  const int columns = batch->descriptor->natts;
  batch->expressions = static_cast<Expr**>(palloc0(sizeof(Expr*) * columns));
  batch->defaults = static_cast<Datum*>(palloc0(sizeof(Datum) * columns));
  batch->default_nulls = static_cast<bool*>(palloc0(sizeof(bool) * columns));
  for (int i = key_count; i < columns; ++i) {
    batch->default_nulls[i] = true;
    auto* source = reinterpret_cast<Expr*>(build_column_default(queue, i + 1));
    if (source == nullptr) {
      continue;
    }
    Expr* expression = expression_planner(source);
    if (IsA(expression, Const)) {
      batch->defaults[i] = reinterpret_cast<Const*>(expression)->constvalue;
      batch->default_nulls[i] = reinterpret_cast<Const*>(expression)->constisnull;
    } else {
      batch->expressions[i] = expression;
    }
  }
}

QueueBatch* MakeBatch(Oid oid, int key_count) {
  Relation queue = table_open(oid, RowExclusiveLock);
  TupleDesc descriptor = RelationGetDescr(queue);
  if (descriptor->natts < key_count || descriptor->natts > kMaxQueueColumns) {
    RefuseQueue(oid);
  }
  // Below the transaction's memory until it is complete.
  MemoryContext memory =
      AllocSetContextCreate(TopTransactionContext, "ai queue batch", ALLOCSET_SMALL_SIZES);
  MemoryContext caller = MemoryContextSwitchTo(memory);
  auto* batch = static_cast<QueueBatch*>(palloc0(sizeof(QueueBatch)));
  batch->memory = memory;
  batch->row_memory = AllocSetContextCreate(memory, "ai queue rows", ALLOCSET_DEFAULT_SIZES);
  batch->queue = oid;
  batch->descriptor = CreateTupleDescCopy(descriptor);
  batch->slot = MakeSingleTupleTableSlot(batch->descriptor, &TTSOpsHeapTuple);
  batch->rows = static_cast<HeapTuple*>(palloc(sizeof(HeapTuple) * kMaxBatchRows));
  ReadDefaults(batch, queue, key_count);
  MemoryContextSwitchTo(caller);
  MemoryContextSetParent(memory, CacheMemoryContext);
  table_close(queue, NoLock);
  return batch;
}

bool IsNow(const Expr* expression) {
  return IsA(expression, FuncExpr) &&
         reinterpret_cast<const FuncExpr*>(expression)->funcid == F_NOW;
}

/// Computes defaults that are stable within a transaction; the executor evaluates all but now().
void EvaluateDefaults(QueueBatch* batch) {
  for (int i = 0; i < batch->descriptor->natts; ++i) {
    Expr* expression = batch->expressions[i];
    if (expression == nullptr) {
      continue;
    }
    if (IsNow(expression)) {
      batch->defaults[i] = TimestampTzGetDatum(GetCurrentTransactionStartTimestamp());
      batch->default_nulls[i] = false;
      continue;
    }
    EState* state = CreateExecutorState();
    const Datum value = ExecEvalExpr(ExecPrepareExpr(expression, state),
                                     GetPerTupleExprContext(state), &batch->default_nulls[i]);
    if (!batch->default_nulls[i]) {
      const Form_pg_attribute column = TupleDescAttr(batch->descriptor, i);
      MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
      batch->defaults[i] = datumCopy(value, column->attbyval, column->attlen);
      MemoryContextSwitchTo(caller);
    }
    FreeExecutorState(state);
  }
}

QueueBatch* FindKept(Oid queue) {
  for (QueueBatch* batch = batches; batch != nullptr; batch = batch->next) {
    if (batch->queue == queue && !batch->is_outdated && !IsInUse(*batch)) {
      return batch;
    }
  }
  return nullptr;
}

/// Keeps the newest ones, which come first.
void DropSome() {
  int count = 0;
  for (QueueBatch** link = &batches; *link != nullptr;) {
    QueueBatch* batch = *link;
    ++count;
    if (!IsInUse(*batch) && (batch->is_outdated || count > kMaxKept)) {
      *link = batch->next;
      MemoryContextDelete(batch->memory);
    } else {
      link = &batch->next;
    }
  }
}

template <typename Wanted>
void ReturnIf(const Wanted& wanted) noexcept {
  for (QueueBatch* batch = batches; batch != nullptr; batch = batch->next) {
    if (IsInUse(*batch) && wanted(*batch)) {
      batch->count = 0;
      batch->subtransaction = InvalidSubTransactionId;
      MemoryContextReset(batch->row_memory);
    }
  }
  DropSome();
}

}  // namespace

void InstallBatchPool() {
  CacheRegisterRelcacheCallback(OnRelationChange, Datum{0});
}

QueueBatch* FirstBatch() noexcept {
  return batches;
}

QueueBatch* TakeBatch(Oid queue, int key_count) {
  QueueBatch* batch = FindKept(queue);
  if (batch == nullptr) {
    batch = MakeBatch(queue, key_count);
    batch->next = batches;
    batches = batch;
  }
  EvaluateDefaults(batch);
  batch->subtransaction = GetCurrentSubTransactionId();
  return batch;
}

void ReturnBatches(SubTransactionId subtransaction) noexcept {
  ReturnIf([&](const QueueBatch& batch) { return batch.subtransaction == subtransaction; });
}

void ReturnAllBatches() noexcept {
  ReturnIf([](const QueueBatch&) { return true; });
}

}  // namespace ai::pg
