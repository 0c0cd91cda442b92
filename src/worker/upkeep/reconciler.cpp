// The reconciler: reconciles one vectorizer with its tables, then exits. Its statements read users'
// tables and may take long, so the coordinator does not run them itself, and terminates this
// process when another session waits for it.
#include "pg/column.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/owner_scope.hpp"
#include "worker/process/child.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

namespace {

constexpr const char* kTitle = "ai reconciler";

void LogStep(const std::string& name, const std::string& step) {
  pg::Call([&] {
    ereport(LOG, errmsg("ai: vectorizer \"%s\" reconciled with its tables: %s", name.c_str(),
                        step.c_str()));
  });
}

/// False when nothing is left to do.
bool Step(std::int32_t vectorizer, std::string& last) {
  std::string name;
  std::string step;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(vectorizer)}};
    const pg::Rows rows = spi.Execute(
        "SELECT v.name, ai._vectorizer_reconcile_step(v.id) AS step FROM ai.vectorizer v "
        "WHERE v.id OPERATOR(pg_catalog.=) $1",
        arguments);
    if (rows.count() > 0) {
      name = rows.TextAt(0, "name").value();
      step = rows.TextAt(0, "step").value_or("");
    }
  });
  if (step.empty()) {
    return false;
  }
  if (step == last) {
    throw std::runtime_error("statement had no effect: " + last);
  }
  last = step;
  LogStep(name, step);
  return true;
}

void QueueLost(std::int32_t vectorizer) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(vectorizer)}};
    const pg::Rows rows = spi.Execute(
        "SELECT v.name, ai._vectorizer_queue_lost(v.id) AS keys FROM ai.vectorizer v "
        "WHERE v.id OPERATOR(pg_catalog.=) $1",
        arguments);
    const pg::Int8Column keys(rows, "keys");
    if (rows.count() == 0 || keys[0] == 0) {
      return;
    }
    LogStep(rows.TextAt(0, "name").value(),
            "unlogged table is emptied by a server crash; keys queued: " + std::to_string(keys[0]));
  });
}

void Reconcile(std::int32_t vectorizer) {
  pg::TurnMemory memory("ai reconciler");
  std::string last;
  bool goes_on = true;
  while (goes_on) {
    const pg::TurnMemory::Turn turn(memory);
    ShowActivity("reconciling a vectorizer with its tables");
    goes_on = Step(vectorizer, last);
  }
  QueueLost(vectorizer);
}

/// Recorded in the errors of the vectorizer, for its owner; logged only if it is new.
void Tell(std::int32_t vectorizer, const std::string& message) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(vectorizer)},
                                      {TEXTOID, pg::MessageDatum(message)}};
    const pg::Rows rows = spi.Execute(
        "SELECT ai._record_error($1, $2, 'definition', 'transient', NULL, NULL)", arguments);
    if (const auto name = rows.TextAt(0, 0)) {
      pg::Call([&] {
        ereport(LOG,
                errmsg("ai: could not reconcile vectorizer \"%s\" with its tables: %s",
                       name->c_str(), message.c_str()),
                errhint("It will be retried."));
      });
    }
  });
}

/// Whether it completed. Does not wait for locked tables.
bool ReconcileAndTell(std::int32_t vectorizer) {
  std::string message;
  try {
    Reconcile(vectorizer);
    return true;
  } catch (const pg::Error& error) {
    if (pg::MeetsLock(error)) {
      return false;
    }
    message = error.what();
  } catch (const std::exception& error) {
    message = error.what();
  }
  try {
    Tell(vectorizer, message);
  } catch (const std::exception& error) {
    LogError("record why a vectorizer could not be reconciled", error);
  }
  return false;
}

void Serve(Oid database) {
  DatabaseSlot* slot = FindDatabase(database);
  if (slot == nullptr || !Occupy(slot->reconciler, &slot->coordinator)) {
    return;
  }
  if (slot->suspended == 0) {
    Connect(database, kTitle);
    pg::SetOwnerWatch({.has_limit = false});  // its coordinator terminates it if it blocks others
    if (!ReconcileAndTell(MyNumber())) {
      return;
    }
  }
  NoteCleanExit();
}

}  // namespace

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_reconciler_main(Datum database);

/// SIGTERM terminates this process immediately: it runs user code, which may continue after a
/// cancelled statement.
void ai_reconciler_main(Datum database) {
  ai::worker::InstallSignalHandlers();
  pqsignal(SIGTERM, die);
  ai::pg::Boundary([database] { ai::worker::Serve(DatumGetObjectId(database)); });
  proc_exit(0);
}
