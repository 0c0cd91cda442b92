// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "worker/shared/ddl_hooks.hpp"

#include "pg/compat.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

constexpr int kMaxSuspensions = 16;  // per transaction; there may be several RENAMEs
constexpr int kMaxWaits = 500;       // for processes to exit
constexpr long kWaitMilliseconds = 10;

object_access_hook_type next_access_hook = nullptr;
ProcessUtility_hook_type next_utility_hook = nullptr;

// Of the current transaction.
bool extension_changed = false;
bool database_created = false;
Oid suspended[kMaxSuspensions];
int suspended_count = 0;

void OnObjectAccess(ObjectAccessType access, Oid class_id, Oid object, int part, void* argument) {
  if (next_access_hook != nullptr) {
    next_access_hook(access, class_id, object, part, argument);
  }
  // For any extension: the name of a new one is not visible yet.
  if (class_id == ExtensionRelationId &&
      (access == OAT_POST_CREATE || access == OAT_POST_ALTER || access == OAT_DROP)) {
    extension_changed = true;
  }
}

const char* TemplateOf(const CreatedbStmt* statement) {
  for (int i = 0; i < list_length(statement->options); ++i) {
    auto* option = static_cast<DefElem*>(list_nth(statement->options, i));
    if (std::strcmp(option->defname, "template") == 0 && option->arg != nullptr) {
      return defGetString(option);
    }
  }
  return "template1";
}

bool MovesDatabase(const AlterDatabaseStmt* statement) {
  for (int i = 0; i < list_length(statement->options); ++i) {
    if (std::strcmp(static_cast<DefElem*>(list_nth(statement->options, i))->defname,
                    "tablespace") == 0) {
      return true;
    }
  }
  return false;
}

/// The database that a command needs without connections, or null.
const char* DatabaseToEmpty(const Node* statement) {
  switch (nodeTag(statement)) {
    case T_DropdbStmt:
      return reinterpret_cast<const DropdbStmt*>(statement)->dbname;
    case T_CreatedbStmt:
      return TemplateOf(reinterpret_cast<const CreatedbStmt*>(statement));
    case T_RenameStmt: {
      const auto* rename = reinterpret_cast<const RenameStmt*>(statement);
      return rename->renameType == OBJECT_DATABASE ? rename->subname : nullptr;
    }
    case T_AlterDatabaseStmt: {
      const auto* alter = reinterpret_cast<const AlterDatabaseStmt*>(statement);
      return MovesDatabase(alter) ? alter->dbname : nullptr;
    }
    default:
      return nullptr;
  }
}

bool IsEmptyNow(const DatabaseSlot& slot) {
  const SharedLock lock;
  return IsEmpty(slot);
}

/// Terminates the processes of a database until the end of the transaction.
void Suspend(Oid database) {
  if (suspended_count == kMaxSuspensions) {
    return;
  }
  DatabaseSlot* slot = nullptr;
  {
    const SharedLock lock;
    slot = ReserveDatabase(database);
    if (slot == nullptr) {
      return;
    }
    ++slot->suspended;
    suspended[suspended_count++] = database;
    TerminateProcesses(*slot);
  }
  // After that the command itself reports other connections.
  for (int waits = 0; waits < kMaxWaits && !IsEmptyNow(*slot); ++waits) {
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, kWaitMilliseconds,
              PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
  }
}

/// Only for those allowed to run the command: nobody else may stop a database's processes.
void SuspendFor(const char* name) {
  const Oid database = get_database_oid(name, true);
  if (OidIsValid(database) && pg::OwnsDatabase(database, GetUserId())) {
    Suspend(database);
  }
}

/// What a prepared transaction has changed is unknown when it is finished, perhaps by another
/// session or after a restart.
bool EndsPrepared(const Node* statement) {
  if (!IsA(statement, TransactionStmt)) {
    return false;
  }
  const auto kind = reinterpret_cast<const TransactionStmt*>(statement)->kind;
  return kind == TRANS_STMT_COMMIT_PREPARED || kind == TRANS_STMT_ROLLBACK_PREPARED;
}

void OnUtility(PlannedStmt* statement, const char* query, bool read_only_tree,
               ProcessUtilityContext context, ParamListInfo parameters,
               QueryEnvironment* environment, DestReceiver* destination,
               QueryCompletion* completion) {
  const char* database = DatabaseToEmpty(statement->utilityStmt);
  if (database != nullptr && Shared() != nullptr && !RecoveryInProgress()) {
    SuspendFor(database);
  }
  database_created = database_created || IsA(statement->utilityStmt, CreatedbStmt);
  const bool ends_prepared = EndsPrepared(statement->utilityStmt);
  const auto next = next_utility_hook != nullptr ? next_utility_hook : standard_ProcessUtility;
  next(statement, query, read_only_tree, context, parameters, environment, destination, completion);
  if (ends_prepared) {
    WakeAfterPrepared(OidIsValid(get_extension_oid("ai", true)));
  }
}

void Resume() {
  const SharedLock lock;
  for (int i = 0; i < suspended_count; ++i) {
    if (DatabaseSlot* slot = FindDatabase(suspended[i]); slot != nullptr && slot->suspended > 0) {
      --slot->suspended;
    }
  }
}

void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) {
    return;
  }
  const bool launcher_wanted = suspended_count > 0 || database_created;
  if (suspended_count > 0) {
    Resume();
  }
  if (extension_changed && event == XACT_EVENT_COMMIT) {
    WakeForExtension();
  }
  if (launcher_wanted && Shared() != nullptr) {
    Wake(Shared()->launcher);
  }
  extension_changed = false;
  database_created = false;
  suspended_count = 0;
}

}  // namespace

void InstallDdlHooks() {
  next_access_hook = object_access_hook;
  object_access_hook = OnObjectAccess;
  next_utility_hook = ProcessUtility_hook;
  ProcessUtility_hook = OnUtility;
  RegisterXactCallback(OnTransactionEnd, nullptr);
}

}  // namespace ai::worker
