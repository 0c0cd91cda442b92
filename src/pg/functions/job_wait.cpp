// ai.wait_for_embedding_job: waits in a user's statement until a job has ended.
//
// No busy polling: whoever ends the job sets the latch of this session after the commit
// (job_waiters.hpp). A periodic check covers a worker that crashed between the two, and COMMIT
// PREPARED. Each check sees everything committed by then, whatever the isolation level, with the
// privileges of the caller: row security decides whether the job is visible.
#include "core/clock.hpp"
#include "pg/compat.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "pg/spi.hpp"
#include "pg/transaction.hpp"
#include "worker/jobs/job_waiters.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

/// The result of a check.
struct Seen {
  Datum job;  // in the memory of the function's caller
  bool ended;
  bool ours;  // created or changed by this transaction, not committed yet
};

[[noreturn]] void RefuseMissing(const Uuid& job) {
  pg::Call([&] {
    ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
            errmsg("embedding job \"%s\" does not exist",
                   DatumGetCString(DirectFunctionCall1(uuid_out, UuidDatum(job)))));
  });
  pg_unreachable();
}

[[noreturn]] void Refuse(const char* message, const char* hint) {
  pg::Call([&] {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", message),
            errhint("%s", hint));
  });
  pg_unreachable();
}

Datum CopyRow(Datum row, MemoryContext memory) {
  return pg::Call([&] {
    MemoryContext caller = MemoryContextSwitchTo(memory);
    const Datum copy = datumCopy(row, false, -1);
    MemoryContextSwitchTo(caller);
    return copy;
  });
}

bool IsEnd(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

Seen CheckJob(const Uuid& job) {
  MemoryContext memory = CurrentMemoryContext;
  const pg::Subtransaction rolled_back;  // so no lock is kept that others could wait for
  pg::Spi spi;
  const pg::Argument arguments[] = {{UUIDOID, UuidDatum(job)}};
  const pg::Rows rows = spi.ExecuteNow(
      "SELECT j AS job, j.status::pg_catalog.text, j.xmin FROM ai.embedding_jobs j "
      "WHERE j.id OPERATOR(pg_catalog.=) $1",
      arguments);
  if (rows.count() == 0) {
    RefuseMissing(job);
  }
  return {CopyRow(rows.At(0, rows.Find("job")).value(), memory),
          IsEnd(pg::TextColumn(rows, "status")[0]),
          TransactionIdIsCurrentTransactionId(pg::XidColumn(rows, "xmin")[0])};
}

/// The milliseconds of an interval from now on, with calendar months. Zero if negative, and clamped
/// to the range of the clock: intervals may be infinite from 17 on.
milliseconds DurationOf(Datum interval) {
  constexpr milliseconds kMax = std::chrono::years(100);
  return pg::Call([&] {
    const TimestampTz now = GetCurrentTimestamp();
    const TimestampTz then = DatumGetTimestampTz(
        DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(now), interval));
    return then <= now ? milliseconds(0) : std::min(milliseconds((then - now) / 1000), kMax);
  });
}

/// Raises an error if the job cannot end while this session waits.
void CheckHope(const Seen& seen) {
  if (seen.ours) {
    Refuse("the embedding job was created or changed by this transaction",
           "Commit first, then wait: workers only see committed jobs.");
  }
  if (RecoveryInProgress()) {
    Refuse("cannot wait for an embedding job during recovery", "Wait on the primary server.");
  }
  if (Shared() == nullptr) {
    Refuse("ai was not loaded through shared_preload_libraries: nothing is processed",
           "Add ai to shared_preload_libraries in postgresql.conf and restart the server.");
  }
}

Datum WaitForJob(const Uuid& job, std::optional<milliseconds> timeout) {
  Seen seen = CheckJob(job);
  if (seen.ended || (timeout && *timeout <= milliseconds(0))) {
    return seen.job;
  }
  CheckHope(seen);
  const SystemClock clock;
  const SteadyTime start = clock.Now();
  const std::uint32_t event = pg::Call([] { return pg::WaitEventNamed("AiEmbeddingJob"); });
  const JobWaiter waiter(job);
  for (;;) {
    pfree(DatumGetPointer(seen.job));
    seen = CheckJob(job);
    milliseconds wait(pg::settings.poll_interval);
    if (timeout) {
      wait = std::min(wait, std::chrono::ceil<milliseconds>(start + *timeout - clock.Now()));
    }
    if (seen.ended || wait <= milliseconds(0)) {
      return seen.job;
    }
    pg::Call([&] {
      WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                static_cast<long>(wait.count()), event);
      ResetLatch(MyLatch);
      CHECK_FOR_INTERRUPTS();
    });
  }
}

}  // namespace
}  // namespace ai::worker

AI_FUNCTION(ai_wait_for_embedding_job) {
  if (PG_ARGISNULL(0)) {
    throw ai::Error(ai::ErrorCode::kInvalidParameter, "id must not be null");
  }
  std::optional<std::chrono::milliseconds> timeout;
  if (!PG_ARGISNULL(1)) {
    timeout = ai::worker::DurationOf(PG_GETARG_DATUM(1));
  }
  return ai::worker::WaitForJob(ai::worker::UuidAt(PG_GETARG_DATUM(0)), timeout);
}

AI_FUNCTION(ai_embedding_jobs_changing) {
  ai::worker::NoteJobsChanging();
  PG_RETURN_VOID();
}
