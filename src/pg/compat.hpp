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

}  // namespace ai::pg
