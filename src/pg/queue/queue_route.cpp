// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "pg/queue/queue_route.hpp"

namespace ai::pg {

namespace {

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

/// A dump of the table alone contains its triggers, but no queue.
Oid QueueByName(const char* schema, const char* name, const char* trigger) {
  const Oid queue = get_relname_relid(name, get_namespace_oid(schema, true));
  if (!OidIsValid(queue)) {
    ereport(
        ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
        errmsg("queue %s of a vectorizer does not exist", quote_qualified_identifier(schema, name)),
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
void CheckIsSource(Oid queue, Relation table, const char* trigger) {
  if (!IsSourceOf(queue, RelationGetRelid(table))) {
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("permission denied to write to queue %s from table \"%s\"", get_rel_name(queue),
                   RelationGetRelationName(table)),
            errdetail("Trigger \"%s\" names the queue of another table.", trigger),
            errhint("Drop the trigger."));
  }
}

int KeyCount(const Trigger& trigger) {
  const int arguments = trigger.tgnargs - kFirstKeyArgument;
  const bool has_priority = arguments > 2 && *trigger.tgargs[trigger.tgnargs - 2] == '\0';
  return has_priority ? arguments - 2 : arguments;
}

/// A column that was changed to a type without priorities is ignored.
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

[[noreturn]] void RefuseTrigger(const Trigger& trigger) {
  ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
          errmsg("trigger \"%s\" was not created by ai.create_vectorizer", trigger.tgname));
  pg_unreachable();
}

/// Whether all keys are given: what comes after them in a queue is the time.
bool HasKeys(TupleDesc queue, int count) {
  return queue->natts > count &&
         std::strcmp(NameStr(TupleDescAttr(queue, count)->attname), "queued_at") == 0;
}

/// Keys are copied as they are. Whatever was renamed since, a value of another type than the
/// queue's column must not get there.
void CheckKeys(const QueueRoute& route, Relation source, const Trigger& trigger) {
  Relation queue = table_open(route.queue, RowExclusiveLock);
  const TupleDesc columns = RelationGetDescr(queue);
  if (!HasKeys(columns, route.key_count)) {
    RefuseTrigger(trigger);
  }
  for (int i = 0; i < route.key_count; ++i) {
    const Form_pg_attribute key =
        TupleDescAttr(RelationGetDescr(source), route.source_columns[i] - 1);
    if (TupleDescAttr(columns, i)->atttypid != getBaseType(key->atttypid)) {
      ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
              errmsg("column \"%s\" of relation \"%s\" is not the key that a vectorizer was "
                     "created with",
                     NameStr(key->attname), RelationGetRelationName(source)),
              errhint("Drop the vectorizer with ai.drop_vectorizer and create it again."));
    }
  }
  table_close(queue, NoLock);
}

/// A cached route of a trigger. INVARIANT: everything it depends on has a relation or catalog whose
/// invalidation invalidates it: the source (columns, owner, triggers), the queue (name, privileges,
/// columns), the name of the queue's schema, role memberships.
struct KnownRoute {
  Oid trigger;
  Oid source;
  bool is_valid;
  QueueRoute route;
};

constexpr int kMaxRoutes = 32;
KnownRoute known_routes[kMaxRoutes];
int next_known = 0;         // which one to replace
std::uint64_t changes = 0;  // invalidations received by this session

void OnRelationChange(Datum /*argument*/, Oid relation) {
  ++changes;
  for (KnownRoute& known : known_routes) {
    if (relation == InvalidOid || relation == known.source || relation == known.route.queue) {
      known.is_valid = false;
    }
  }
}

void OnCatalogChange(Datum argument, int /*cache*/, uint32 /*hash*/) {
  OnRelationChange(argument, InvalidOid);
}

const KnownRoute* FindKnown(const Trigger& trigger, Relation source) {
  for (const KnownRoute& known : known_routes) {
    if (known.trigger == trigger.tgoid && known.source == RelationGetRelid(source) &&
        known.is_valid) {
      // Locking it processes invalidations: it may be invalid now.
      LockRelationOid(known.route.queue, RowExclusiveLock);
      return known.is_valid ? &known : nullptr;
    }
  }
  return nullptr;
}

void Remember(const Trigger& trigger, Relation source, const QueueRoute& route) {
  known_routes[next_known] = {trigger.tgoid, RelationGetRelid(source), true, route};
  next_known = (next_known + 1) % kMaxRoutes;
}

}  // namespace

void InstallRouteCache() {
  CacheRegisterRelcacheCallback(OnRelationChange, Datum{0});
  for (const int cache : {NAMESPACEOID, AUTHOID, AUTHMEMROLEMEM}) {
    CacheRegisterSyscacheCallback(cache, OnCatalogChange, Datum{0});
  }
}

QueueRoute FindRoute(const TriggerData& event) {
  const Trigger& trigger = *event.tg_trigger;
  Relation source = event.tg_relation;
  if (const KnownRoute* known = FindKnown(trigger, source); known != nullptr) {
    return known->route;
  }
  const std::uint64_t changes_before = changes;
  const int key_count = KeyCount(trigger);
  if (key_count < 1 || key_count > INDEX_MAX_KEYS) {
    RefuseTrigger(trigger);
  }
  QueueRoute route{};
  route.queue = QueueByName(trigger.tgargs[0], trigger.tgargs[1], trigger.tgname);
  const bool may_insert = MayInsert(route.queue, source->rd_rel->relowner);
  if (!may_insert) {
    CheckIsSource(route.queue, source, trigger.tgname);
  }
  route.key_count = key_count;
  for (int i = 0; i < key_count; ++i) {
    route.source_columns[i] = ColumnByName(source, trigger.tgargs[kFirstKeyArgument + i]);
  }
  CheckKeys(route, source, trigger);
  if (trigger.tgnargs > kFirstKeyArgument + key_count) {
    SetPriority(&route, source, trigger.tgargs[trigger.tgnargs - 1]);
  }
  // Our own catalog is read each time.
  if (may_insert && changes == changes_before) {
    Remember(trigger, source, route);
  }
  return route;
}

}  // namespace ai::pg
