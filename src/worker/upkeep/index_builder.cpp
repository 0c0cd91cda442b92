#include "worker/upkeep/index_builder.hpp"

#include "pg/column.hpp"
#include "pg/compat.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/owner_scope.hpp"
#include "worker/process/child.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

namespace {

constexpr const char* kTitle = "ai indexer";

struct Step {
  Oid role;
  bool superuser;
  std::string statement;
};

std::optional<Step> NextStep(std::int32_t vectorizer) {
  std::optional<Step> step;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(vectorizer)}};
    const pg::Rows rows =
        spi.Execute("SELECT role, statement FROM ai._next_index_step($1)", arguments);
    if (const auto statement = rows.TextAt(0, "statement")) {
      const Oid role = pg::OidColumn(rows, "role")[0];
      step = {role, pg::Call([&] { return superuser_arg(role); }), *statement};
    }
  });
  return step;
}

/// Switches the session authorization for a while. A role set for a statement, as elsewhere, would
/// not survive the commits within it. The server runs an owner's index expressions as a
/// security-restricted operation, which cannot switch back to the superuser.
class SessionScope final {
 public:
  explicit SessionScope(const Step& step) {
    pg::Call([&] { SetSessionAuthorization(step.role, step.superuser); });
  }
  ~SessionScope() { SetSessionAuthorization(BOOTSTRAP_SUPERUSERID, true); }
  SessionScope(const SessionScope&) = delete;
  SessionScope& operator=(const SessionScope&) = delete;
};

PlannedStmt* Parse(const char* sql) {
  auto* parsed = static_cast<RawStmt*>(linitial(raw_parser(sql, RAW_PARSE_DEFAULT)));
  auto* statement = makeNode(PlannedStmt);
  statement->commandType = CMD_UTILITY;
  statement->canSetTag = true;
  statement->utilityStmt = parsed->stmt;
  statement->stmt_location = parsed->stmt_location;
  statement->stmt_len = parsed->stmt_len;
  return statement;
}

/// Runs a statement that cannot run inside a transaction block, because it commits by itself, which
/// SPI does not allow. INVARIANT: the current memory context is not that of a transaction.
void RunAtTopLevel(const char* sql) {
  List* statements = pg::Call([&] { return list_make1(Parse(sql)); });
  pg::Transaction transaction;
  pg::Call([&] {
    PopActiveSnapshot();  // the portal has its own
    Portal portal = CreateNewPortal();
    portal->visible = false;
    PortalDefineQuery(portal, nullptr, sql, CMDTAG_UNKNOWN, statements, nullptr);
    PortalStart(portal, nullptr, 0, InvalidSnapshot);
    pg::RunPortal(portal);
    PortalDrop(portal, false);
  });
  transaction.Commit();
}

void BuildIndexes(std::int32_t vectorizer) {
  pg::TurnMemory memory("ai index");
  std::string last;
  while (!ShutdownRequested()) {
    const pg::TurnMemory::Turn turn(memory);
    const std::optional<Step> step = NextStep(vectorizer);
    if (!step) {
      return;
    }
    if (step->statement == last) {
      throw std::runtime_error("statement had no effect: " + last);
    }
    last = step->statement;
    ShowActivity(last.c_str());
    const SessionScope as_owner(*step);
    RunAtTopLevel(last.c_str());
  }
}

/// An interrupt is not an error: the process was terminated on purpose.
void BuildAndTell(std::int32_t vectorizer) {
  try {
    BuildIndexes(vectorizer);
    return;
  } catch (const std::exception& error) {
    if (ShutdownRequested()) {
      return;
    }
    LogError("build an index", error);
    RecordIndexError(vectorizer, error.what());
  }
}

void Serve(Oid database) {
  DatabaseSlot* slot = FindDatabase(database);
  if (slot == nullptr || !Occupy(slot->indexer, &slot->coordinator)) {
    return;
  }
  if (slot->suspended == 0) {
    Connect(database, kTitle);
    pg::SetOwnerWatch({.has_limit = false});  // its coordinator terminates it if it blocks others
    // Waiting for old snapshots may take long, and blocks nobody.
    pg::Call([] { SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE); });
    BuildAndTell(MyNumber());
  }
  NoteCleanExit();
}

}  // namespace

void RecordIndexError(std::int32_t vectorizer, const std::string& message) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(vectorizer)},
                                      {TEXTOID, pg::MessageDatum(message)}};
    spi.Execute("SELECT ai._record_index_error($1, $2)", arguments);
  });
}

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_indexer_main(Datum database);

void ai_indexer_main(Datum database) {
  ai::worker::InstallSignalHandlers();
  ai::pg::Boundary([database] { ai::worker::Serve(DatumGetObjectId(database)); });
  proc_exit(0);
}
