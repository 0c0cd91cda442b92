// The size of a table, for views over many that must not wait for any.
#include "pg/free_table.hpp"
#include "pg/guard.hpp"

namespace {

/// False if the table was dropped or is locked.
bool CountPages(Oid oid, BlockNumber& pages) {
  ai::pg::FreeTable table(oid);
  if (table.state == ai::pg::TableState::kOpen) {
    pages = RELKIND_HAS_STORAGE(table.relation->rd_rel->relkind)
                ? RelationGetNumberOfBlocks(table.relation)
                : 0;
  }
  table.Close();
  return table.state == ai::pg::TableState::kOpen;
}

}  // namespace

AI_FUNCTION(ai_pages) {
  BlockNumber pages = 0;
  if (!ai::pg::Call([&] { return CountPages(PG_GETARG_OID(0), pages); })) {
    PG_RETURN_NULL();
  }
  return Int64GetDatum(pages);
}
