// The trigger functions on a vectorizer's source table, and what their conditions call.
//
// Their arguments are the queue's schema and name, then the names of the source's key columns; and,
// if rows have a priority of their own, an empty one, which no column is called, and its column.
// Names, not numbers: partitions number their columns as they like. Anybody may make such a
// trigger, since PostgreSQL copies it to new partitions with the rights of who makes these; so it
// checks that its table may fill the queue.
#include "core/policy/row_priority.hpp"
#include "pg/guard.hpp"
#include "pg/queue_batch.hpp"

namespace {

using ai::pg::QueueRoute;

constexpr int kFirstKeyArgument = 2;

AttrNumber ColumnByName(Relation relation, const char* name) {
  const TupleDesc descriptor = RelationGetDescr(relation);
  for (int i = 0; i < descriptor->natts; ++i) {
    const Form_pg_attribute column = TupleDescAttr(descriptor, i);
    if (!column->attisdropped && std::strcmp(NameStr(column->attname), name) == 0) {
      return column->attnum;
    }
  }
  ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
          errmsg("column \"%s\" of relation \"%s\" does not exist", name,
                 RelationGetRelationName(relation)),
          errdetail("It is part of the key that a vectorizer was created with."),
          errhint("Drop the vectorizer with ai.drop_vectorizer and create it again."));
  pg_unreachable();
}

/// A dump of the table alone has its triggers, and no queue.
Oid QueueByName(const char* schema, const char* name, const char* trigger) {
  const Oid queue = get_relname_relid(name, get_namespace_oid(schema, true));
  if (!OidIsValid(queue)) {
    ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
            errmsg("the queue %s of a vectorizer does not exist",
                   quote_qualified_identifier(schema, name)),
            errdetail("Trigger \"%s\" writes to it.", trigger),
            errhint("If the table was copied here without its vectorizer, create one with "
                    "ai.create_vectorizer, or drop the trigger. Otherwise drop the vectorizer with "
                    "ai.drop_vectorizer and create it again."));
  }
  return queue;
}

bool MayInsert(Oid queue, Oid owner) {
  return pg_class_aclcheck(queue, owner, ACL_INSERT) == ACLCHECK_OK ||
         pg_attribute_aclcheck(queue, 1, owner, ACL_INSERT) == ACLCHECK_OK;
}

/// Whether a vectorizer with this queue has the table, or one that it is a partition of, as its
/// source.
bool IsSourceOf(Oid queue, Oid table) {
  constexpr const char* kStatement =
      "SELECT FROM ai.vectorizer v WHERE v.queue OPERATOR(pg_catalog.=) $1 "
      "AND (v.source OPERATOR(pg_catalog.=) $2 OR v.source OPERATOR(pg_catalog.=) ANY "
      "(ARRAY(SELECT a.relid FROM pg_catalog.pg_partition_ancestors($2) a)))";
  Oid types[] = {REGCLASSOID, REGCLASSOID};
  Datum values[] = {ObjectIdGetDatum(queue), ObjectIdGetDatum(table)};
  Oid caller = InvalidOid;
  int context = 0;
  GetUserIdAndSecContext(&caller, &context);
  SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, context | SECURITY_LOCAL_USERID_CHANGE);
  SPI_connect();
  const int code = SPI_execute_with_args(kStatement, 2, types, values, nullptr, true, 1);
  const bool found = code == SPI_OK_SELECT && SPI_processed > 0;
  SPI_finish();
  SetUserIdAndSecContext(caller, context);
  return found;
}

/// The owner of a source may insert into its queue. After REASSIGN OWNED, and for partitions of
/// another owner, the catalog tells.
void CheckMayFill(Oid queue, Relation table, const char* trigger) {
  if (!MayInsert(queue, table->rd_rel->relowner) && !IsSourceOf(queue, RelationGetRelid(table))) {
    ereport(
        ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
        errmsg("permission denied to fill the queue %s from table \"%s\"", get_rel_name(queue),
               RelationGetRelationName(table)),
        errdetail("Trigger \"%s\" would do that, and the queue is that of another table.", trigger),
        errhint("Drop the trigger."));
  }
}

int KeyCount(const Trigger& trigger) {
  const int arguments = trigger.tgnargs - kFirstKeyArgument;
  const bool has_priority = arguments > 2 && *trigger.tgargs[trigger.tgnargs - 2] == '\0';
  return has_priority ? arguments - 2 : arguments;
}

/// A column that was changed to a type that tells no priority is as if it were not there.
void SetPriority(QueueRoute* route, Relation relation, const char* column) {
  const AttrNumber number = ColumnByName(relation, column);
  const Oid type = getBaseType(TupleDescAttr(RelationGetDescr(relation), number - 1)->atttypid);
  const bool is_known = type == INT2OID || type == INT4OID || type == INT8OID || type == TEXTOID ||
                        type == VARCHAROID || type == BPCHAROID || type == NAMEOID;
  if (is_known || type_is_enum(type)) {
    route->priority_column = number;
    route->priority_type = is_known ? type : ANYENUMOID;
  }
}

/// Keys are copied as they are. Whatever was renamed since, a value of another type than the
/// queue's column must not get there.
void CheckKeyTypes(const QueueRoute& route, Relation source) {
  Relation queue = table_open(route.queue, RowExclusiveLock);
  const TupleDesc columns = RelationGetDescr(queue);
  for (int i = 0; i < route.key_count; ++i) {
    const Form_pg_attribute key =
        TupleDescAttr(RelationGetDescr(source), route.source_columns[i] - 1);
    if (i >= columns->natts || TupleDescAttr(columns, i)->atttypid != getBaseType(key->atttypid)) {
      ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
              errmsg("column \"%s\" of relation \"%s\" is not the key that a vectorizer was "
                     "created with",
                     NameStr(key->attname), RelationGetRelationName(source)),
              errhint("Drop the vectorizer with ai.drop_vectorizer and create it again."));
    }
  }
  table_close(queue, NoLock);
}

/// Found once per statement and trigger.
const QueueRoute& RouteOf(FunctionCallInfo fcinfo, const TriggerData& event) {
  auto* route = static_cast<QueueRoute*>(fcinfo->flinfo->fn_extra);
  if (route != nullptr) {
    return *route;
  }
  const Trigger& trigger = *event.tg_trigger;
  const int key_count = KeyCount(trigger);
  if (key_count < 1 || key_count > INDEX_MAX_KEYS) {
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("trigger \"%s\" was not made by ai.create_vectorizer", trigger.tgname));
  }
  route =
      static_cast<QueueRoute*>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(QueueRoute)));
  route->queue = QueueByName(trigger.tgargs[0], trigger.tgargs[1], trigger.tgname);
  CheckMayFill(route->queue, event.tg_relation, trigger.tgname);
  route->key_count = key_count;
  for (int i = 0; i < key_count; ++i) {
    route->source_columns[i] =
        ColumnByName(event.tg_relation, trigger.tgargs[kFirstKeyArgument + i]);
  }
  CheckKeyTypes(*route, event.tg_relation);
  if (trigger.tgnargs > kFirstKeyArgument + key_count) {
    SetPriority(route, event.tg_relation, trigger.tgargs[trigger.tgnargs - 1]);
  }
  fcinfo->flinfo->fn_extra = route;
  return *route;
}

bool SameKey(const QueueRoute& route, TupleTableSlot* left, TupleTableSlot* right) {
  for (int i = 0; i < route.key_count; ++i) {
    const AttrNumber column = route.source_columns[i];
    bool left_null = false;
    bool right_null = false;
    const Datum left_value = slot_getattr(left, column, &left_null);
    const Datum right_value = slot_getattr(right, column, &right_null);
    const Form_pg_attribute attribute = TupleDescAttr(left->tts_tupleDescriptor, column - 1);
    if (left_null != right_null ||
        (!left_null &&
         !datum_image_eq(left_value, right_value, attribute->attbyval, attribute->attlen))) {
      return false;
    }
  }
  return true;
}

const TriggerData& RequireTrigger(FunctionCallInfo fcinfo) {
  if (!CALLED_AS_TRIGGER(fcinfo)) {
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("this function is for the triggers of vectorizers only"));
  }
  return *reinterpret_cast<const TriggerData*>(fcinfo->context);
}

/// The two toast pointers are the same: so is the value, without fetching it. An update leaves the
/// pointer of a column that it does not touch as it is.
bool SameToastPointer(Datum left, Datum right) {
  const auto* a = reinterpret_cast<const varlena*>(DatumGetPointer(left));
  const auto* b = reinterpret_cast<const varlena*>(DatumGetPointer(right));
  return VARATT_IS_EXTERNAL_ONDISK(a) && VARATT_IS_EXTERNAL_ONDISK(b) &&
         std::memcmp(a, b, VARSIZE_EXTERNAL(a)) == 0;
}

struct TypeLayout {
  std::int16_t length;
  bool by_value;
};

const TypeLayout& LayoutOf(FunctionCallInfo fcinfo) {
  auto* layout = static_cast<TypeLayout*>(fcinfo->flinfo->fn_extra);
  if (layout == nullptr) {
    layout =
        static_cast<TypeLayout*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(TypeLayout)));
    get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, 0), &layout->length, &layout->by_value);
    fcinfo->flinfo->fn_extra = layout;
  }
  return *layout;
}

}  // namespace

// After a row was inserted, deleted, or updated in a column that matters.
AI_FUNCTION(ai_vectorizer_enqueue) {
  const TriggerData& event = RequireTrigger(fcinfo);
  const QueueRoute& route = RouteOf(fcinfo, event);
  if (TRIGGER_FIRED_BY_UPDATE(event.tg_event)) {
    ai::pg::CollectKey(route, event.tg_newslot);
    if (!SameKey(route, event.tg_trigslot, event.tg_newslot)) {
      ai::pg::CollectKey(route, event.tg_trigslot);
    }
  } else {
    ai::pg::CollectKey(route, event.tg_trigslot);
  }
  return PointerGetDatum(nullptr);
}

// What a row's priority, as text, adds to that of its vectorizer; for queue entries that no trigger
// makes.
AI_FUNCTION(ai_row_priority) {
  const text* word = PG_GETARG_TEXT_PP(0);
  PG_RETURN_INT32(ai::policy::RowPriority({VARDATA_ANY(word), VARSIZE_ANY_EXHDR(word)}));
}

// After a statement: what its rows collected goes to the queue at once.
AI_FUNCTION(ai_vectorizer_flush) {
  RequireTrigger(fcinfo);
  ai::pg::FlushQueueBatches();
  return PointerGetDatum(nullptr);
}

// For functions that read a queue inside the transaction that fills it.
AI_FUNCTION(ai_vectorizer_flush_pending) {
  ai::pg::FlushQueueBatches();
  PG_RETURN_VOID();
}

// Whether two values differ in any byte. Equality operators are of no use here: some types have
// none, and a collation may call different texts equal.
AI_FUNCTION(ai_changed) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) {
    PG_RETURN_BOOL(PG_ARGISNULL(0) != PG_ARGISNULL(1));
  }
  const Datum left = PG_GETARG_DATUM(0);
  const Datum right = PG_GETARG_DATUM(1);
  const TypeLayout& layout = LayoutOf(fcinfo);
  if (layout.length == -1 && SameToastPointer(left, right)) {
    PG_RETURN_BOOL(false);
  }
  PG_RETURN_BOOL(!datum_image_eq(left, right, layout.by_value, layout.length));
}
