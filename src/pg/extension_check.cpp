#include "pg/extension_check.hpp"

#include "pg/guard.hpp"
#include "pg/spi.hpp"

namespace ai::pg {

namespace {

ProcessUtility_hook_type next_hook = nullptr;

bool CreatesThisExtension(const Node* statement) {
  return IsA(statement, CreateExtensionStmt) &&
         std::strcmp(reinterpret_cast<const CreateExtensionStmt*>(statement)->extname, "ai") == 0;
}

void RequirePgvector() {
  Spi spi;
  const Rows available = spi.Execute(
      "SELECT FROM pg_catalog.pg_available_extensions WHERE name OPERATOR(pg_catalog.=) 'vector'");
  if (available.count() > 0) {
    return;
  }
  throw ai::Error(ErrorCode::kNotSupported,
                  "extension \"ai\" requires the extension \"vector\" (pgvector), which is not "
                  "available on this server",
                  {},
                  "Install the package postgresql-" + std::to_string(PG_VERSION_NUM / 10000) +
                      "-pgvector, then run CREATE EXTENSION ai CASCADE again.");
}

void CheckUtility(PlannedStmt* statement, const char* query, bool read_only_tree,
                  ProcessUtilityContext context, ParamListInfo parameters,
                  QueryEnvironment* environment, DestReceiver* destination,
                  QueryCompletion* completion) {
  if (CreatesThisExtension(statement->utilityStmt)) {
    Boundary(RequirePgvector);
  }
  const auto next = next_hook != nullptr ? next_hook : standard_ProcessUtility;
  next(statement, query, read_only_tree, context, parameters, environment, destination, completion);
}

}  // namespace

void InstallExtensionCheck() {
  if (!process_shared_preload_libraries_in_progress) {
    return;
  }
  next_hook = ProcessUtility_hook;
  ProcessUtility_hook = CheckUtility;
}

}  // namespace ai::pg
