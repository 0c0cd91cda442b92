#include "worker/supervise/database_list.hpp"

#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "pg/transaction.hpp"

namespace ai::worker {

namespace {

/// DROP DATABASE was interrupted. 15.4 and later have a name for it.
constexpr int kInvalidDatabase = -2;

bool IsListed(const List* names, const char* database) {
  for (int i = 0; i < list_length(names); ++i) {
    if (std::strcmp(static_cast<const char*>(list_nth(names, i)), database) == 0) {
      return true;
    }
  }
  return names == NIL;
}

bool MayBeServed(const FormData_pg_database& row, const List* names) {
  return row.datallowconn && !row.datistemplate && row.datconnlimit != kInvalidDatabase &&
         IsListed(names, NameStr(row.datname));
}

List* ListedNames() {
  List* names = NIL;
  SplitIdentifierString(pstrdup(pg::settings.databases), ',', &names);
  return names;
}

}  // namespace

std::vector<Oid> ListDatabases() {
  std::vector<Oid> databases;
  pg::Transaction transaction;
  pg::Call([&] {
    const List* names = ListedNames();
    Relation catalog = table_open(DatabaseRelationId, AccessShareLock);
    TableScanDesc scan = table_beginscan_catalog(catalog, 0, nullptr);
    while (HeapTuple tuple = heap_getnext(scan, ForwardScanDirection)) {
      const auto* row = reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple));
      if (MayBeServed(*row, names)) {
        databases.push_back(row->oid);
      }
    }
    table_endscan(scan);
    table_close(catalog, AccessShareLock);
  });
  transaction.Commit();
  return databases;
}

bool IsListed(Oid database) {
  return pg::Call([&] {
    const char* name = get_database_name(database);
    return name != nullptr && IsListed(ListedNames(), name);
  });
}

}  // namespace ai::worker
