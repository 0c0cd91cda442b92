// Where the supported PostgreSQL versions differ. Each shim says from which version on.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// 16 added the argument onlySummarizing.
inline void InsertIndexTuples(ResultRelInfo* relation, TupleTableSlot* slot, EState* state) {
#if PG_VERSION_NUM >= 160000
  ExecInsertIndexTuples(relation, slot, state, false, false, nullptr, NIL, false);
#else
  ExecInsertIndexTuples(relation, slot, state, false, false, nullptr, NIL);
#endif
}

/// 16 renamed the physical identity of a relation.
inline Oid FileNumber(Relation relation) {
#if PG_VERSION_NUM >= 160000
  return relation->rd_locator.relNumber;
#else
  return relation->rd_node.relNode;
#endif
}

/// From 17 on an extension's wait events have names; before, all of them are "Extension".
inline std::uint32_t WaitEventNamed([[maybe_unused]] const char* name) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  return PG_WAIT_EXTENSION;
#endif
}

/// Runs all of a portal as a statement of a client is run. 18 removed the argument run_once.
inline void RunPortal(Portal portal) {
#if PG_VERSION_NUM >= 180000
  PortalRun(portal, FETCH_ALL, true, None_Receiver, None_Receiver, nullptr);
#else
  PortalRun(portal, FETCH_ALL, true, true, None_Receiver, None_Receiver, nullptr);
#endif
}

/// 18 added the argument for instrumentation.
inline IndexScanDesc BeginIndexScan(Relation table, Relation index, Snapshot snapshot, int keys) {
#if PG_VERSION_NUM >= 180000
  return index_beginscan(table, index, snapshot, nullptr, keys, 0);
#else
  return index_beginscan(table, index, snapshot, keys, 0);
#endif
}

/// 16 replaced the checks for each kind of object by one.
inline bool OwnsDatabase(Oid database, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_ownercheck(DatabaseRelationId, database, role);
#else
  return pg_database_ownercheck(database, role);
#endif
}

}  // namespace ai::pg
