// How large a table is, for those who look at many and must not wait for any.
#include "pg/guard.hpp"

namespace {

/// False if the table is gone, or somebody has locked it. The lock is not kept: who looks at a
/// thousand tables in a transaction would use up the server's.
bool CountPages(Oid table, BlockNumber& pages) {
  if (!ConditionalLockRelationOid(table, AccessShareLock)) {
    return false;
  }
  Relation relation = try_relation_open(table, NoLock);
  if (relation == nullptr) {
    UnlockRelationOid(table, AccessShareLock);
    return false;
  }
  pages = RELKIND_HAS_STORAGE(relation->rd_rel->relkind) ? RelationGetNumberOfBlocks(relation) : 0;
  relation_close(relation, AccessShareLock);
  return true;
}

}  // namespace

AI_FUNCTION(ai_pages) {
  BlockNumber pages = 0;
  if (!ai::pg::Call([&] { return CountPages(PG_GETARG_OID(0), pages); })) {
    PG_RETURN_NULL();
  }
  return Int64GetDatum(pages);
}
