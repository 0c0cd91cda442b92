// A background worker whose every turn fails, to see that it lives on and does not grow.
#include "core/interrupt.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/spi.hpp"
#include "pg/transaction.hpp"
#include "tracked.hpp"

namespace {

long ResidentKilobytes() {
  long pages = 0;
  FILE* statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr || std::fscanf(statm, "%*d %ld", &pages) != 1) {
    pages = -1;
  }
  if (statm != nullptr) {
    std::fclose(statm);
  }
  return pages * 4;
}

void Report(const char* moment, int turns) {
  ai::pg::Transaction transaction;
  ai::pg::Spi spi;
  const ai::pg::Argument arguments[] = {
      {TEXTOID, ai::pg::TextDatum(moment)},
      {INT4OID, Int32GetDatum(turns)},
      {INT4OID, Int32GetDatum(border::live_objects)},
      {INT8OID, Int64GetDatum(ResidentKilobytes())},
  };
  spi.Execute(
      "INSERT INTO public.border_worker_report"
      " VALUES ($1, pg_catalog.pg_backend_pid(), $2, $3, $4)",
      arguments);
  transaction.Commit();
}

void FailingTurn() {
  const border::Tracked witness(65536);
  ai::pg::Transaction transaction;
  ai::pg::Spi spi;
  spi.Execute("INSERT INTO public.border_worker_report VALUES ('never', 0, 0, 0, 0)");
  spi.Execute("SELECT 1/0");
  transaction.Commit();
}

/// Runs the turns; answers how many of them failed as they should.
int RunTurns(int turns) {
  ai::pg::TurnMemory memory("border turn");
  int failed = 0;
  for (int i = 0; i < turns; ++i) {
    const ai::pg::TurnMemory::Turn turn(memory);
    ai::CheckInterrupt(ai::pg::ServeInterrupts);
    ai::pg::Call([] { palloc(65536); });
    try {
      FailingTurn();
    } catch (const ai::pg::Error& error) {
      failed += error.sqlstate() == ERRCODE_DIVISION_BY_ZERO ? 1 : 0;
    }
  }
  return failed;
}

}  // namespace

extern "C" PGDLLEXPORT void border_worker_main(Datum turns);

void border_worker_main(Datum turns) {
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnection("postgres", nullptr, 0);
  ai::pg::Boundary([turns] {
    // The caches fill during the first turns; growth is counted from there.
    RunTurns(50);
    Report("before", 0);
    Report("after", RunTurns(DatumGetInt32(turns)));
  });
}

// Starts the worker and waits until it is gone.
AI_FUNCTION(border_run_worker) {
  BackgroundWorker worker{};
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_ConsistentState;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = PG_GETARG_DATUM(0);
  worker.bgw_notify_pid = MyProcPid;
  strlcpy(worker.bgw_name, "ai border test", sizeof(worker.bgw_name));
  strlcpy(worker.bgw_type, "ai border test", sizeof(worker.bgw_type));
  strlcpy(worker.bgw_library_name, "ai_border", sizeof(worker.bgw_library_name));
  strlcpy(worker.bgw_function_name, "border_worker_main", sizeof(worker.bgw_function_name));
  const bool started = ai::pg::Call([&] {
    BackgroundWorkerHandle* handle = nullptr;
    return RegisterDynamicBackgroundWorker(&worker, &handle) &&
           WaitForBackgroundWorkerShutdown(handle) == BGWH_STOPPED;
  });
  PG_RETURN_BOOL(started);
}

AI_FUNCTION(border_resident_kilobytes) {
  PG_RETURN_INT64(ResidentKilobytes());
}
