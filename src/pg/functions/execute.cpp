// ai.execute_vectorizer: wakes the workers and waits until they have processed the queue.
//
// It waits in a user's transaction, so it must not hold locks: each check is a subtransaction that
// is rolled back, which releases its locks. A transaction that has already changed something is
// refused, since workers do not see that yet and may even wait for it.
#include <algorithm>

#include "core/clock.hpp"
#include "pg/column.hpp"
#include "pg/compat.hpp"
#include "pg/guard.hpp"
#include "pg/queue/queue_notes.hpp"
#include "pg/role.hpp"
#include "pg/settings.hpp"
#include "pg/vectorizer_name.hpp"
#include "worker/process/extension.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/database_list.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{5};
constexpr milliseconds kLongestPause{500};
constexpr int kPauseFactor = 10;              // the pause is so many times the duration of a check
constexpr std::chrono::seconds kPatience{5};  // for workers to start
constexpr int kPrerequisite = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;

/// The progress of the vectorizer; see ai._vectorizer_progress.
struct Progress {
  std::string name;
  std::string state;
  bool unfinished;
  std::int64_t retryable;
  std::int64_t failed;
  std::optional<std::string> trouble;
};

[[noreturn]] void Refuse(const std::string& message, const char* hint) {
  pg::Call([&] {
    ereport(ERROR, errcode(kPrerequisite), errmsg("%s", message.c_str()), errhint("%s", hint));
  });
  pg_unreachable();
}

/// Runs read as the extension's owner with a fresh snapshot, and keeps no lock. Returns false if
/// the extension is being dropped.
template <typename Read>
bool ReadWithoutLocks(const Read& read) {
  const pg::Subtransaction rolled_back;
  const Extension extension = HoldExtension();
  if (extension.presence == Presence::kBusy) {
    return false;
  }
  if (extension.presence == Presence::kGone) {
    Refuse("the extension was dropped", "Create it again.");
  }
  if (!extension.FitsLibrary()) {
    Refuse("library and extension versions differ, processing is suspended",
           "Run ALTER EXTENSION ai UPDATE; if the library is the older one, restart the server.");
  }
  const pg::RoleScope role(extension.owner);
  pg::Spi spi;
  read(spi);
  return true;
}

void RequireUntouchedTransaction() {
  if (!TransactionIdIsValid(pg::Call([] { return GetTopTransactionIdIfAny(); }))) {
    return;
  }
  pg::Call([] {
    ereport(ERROR, errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
            errmsg("ai.execute_vectorizer cannot run in a transaction that has modified data"),
            errdetail("Workers see changes when they are committed."), errhint("Commit first."));
  });
}

void RequireServer() {
  if (RecoveryInProgress()) {
    Refuse("ai.execute_vectorizer cannot run during recovery", "Call it on the primary server.");
  }
  if (Shared() == nullptr) {
    Refuse("ai was not loaded through shared_preload_libraries: nothing is processed",
           "Add ai to shared_preload_libraries in postgresql.conf and restart the server.");
  }
  if (pg::settings.workers == 0) {
    Refuse("no workers are configured: ai.workers is 0",
           "Increase ai.workers and reload the "
           "configuration.");
  }
  if (!IsListed(MyDatabaseId)) {
    Refuse("this database is not served: it is not listed in ai.databases",
           "Add it to ai.databases and reload the configuration.");
  }
}

/// Or will have one in its turn.
bool HasWorker() {
  const DatabaseSlot* slot = FindDatabase(MyDatabaseId);
  return slot != nullptr &&
         (slot->pool.waits_since.load() != SteadyTime() ||
          std::any_of(std::begin(slot->workers), std::end(slot->workers),
                      [](const WorkerSlot& worker) { return worker.process.pid != 0; }));
}

class Execution final {
 public:
  /// Of the vectorizer with that id, which may be null.
  explicit Execution(const NullableDatum& vectorizer) : vectorizer_(vectorizer) {}
  void Run();

 private:
  std::optional<Progress> Check();
  Progress Read(pg::Spi& spi) const;
  void CheckWorkers();
  void TellTrouble(const Progress& progress);
  void TellRest(const Progress& progress) const;
  void Pause(SteadyTime look_began);

  NullableDatum vectorizer_;
  Oid caller_ = GetUserId();
  TimestampTz since_ = GetCurrentTimestamp();
  SystemClock clock_;
  SteadyTime workers_seen_ = clock_.Now();
  milliseconds pause_ = kFirstPause;
  bool trouble_told_ = false;
  bool table_missed_ = false;
  std::uint32_t event_ = pg::Call([] { return pg::WaitEventNamed("AiExecuteVectorizer"); });
};

Progress Execution::Read(pg::Spi& spi) const {
  const pg::Argument arguments[] = {{OIDOID, ObjectIdGetDatum(caller_)},
                                    {INT4OID, vectorizer_.value, vectorizer_.isnull},
                                    {TIMESTAMPTZOID, TimestampTzGetDatum(since_)}};
  const pg::Rows rows = spi.ExecuteNow(
      "SELECT p.name, p.state, p.unfinished, p.retryable, p.failed, p.trouble "
      "FROM ai._vectorizer_progress($1, $2, $3) p",
      arguments);
  return {.name = rows.TextAt(0, "name").value(),
          .state = rows.TextAt(0, "state").value(),
          .unfinished = pg::BoolColumn(rows, "unfinished")[0],
          .retryable = pg::Int8Column(rows, "retryable")[0],
          .failed = pg::Int8Column(rows, "failed")[0],
          .trouble = rows.TextAt(0, "trouble")};
}

std::optional<Progress> Execution::Check() {
  std::optional<Progress> progress;
  try {
    worker::ReadWithoutLocks([&](pg::Spi& spi) { progress = Read(spi); });
  } catch (const pg::Error& error) {
    // Dropped after it was found: the next check will report that.
    if (error.sqlstate() != ERRCODE_UNDEFINED_TABLE || std::exchange(table_missed_, true)) {
      throw;
    }
  }
  return progress;
}

void Execution::CheckWorkers() {
  RequireServer();
  if (HasWorker()) {
    workers_seen_ = clock_.Now();
  } else if (clock_.Now() > workers_seen_ + kPatience) {
    Refuse("no worker is running for this database",
           "See ai.health() and the server's log for the reason; max_worker_processes may be too "
           "low.");
  }
}

void Execution::TellTrouble(const Progress& progress) {
  if (!progress.trouble || std::exchange(trouble_told_, true)) {
    return;
  }
  pg::Call([&] {
    ereport(WARNING,
            errmsg("vectorizer \"%s\" reports an error: %s", progress.name.c_str(),
                   progress.trouble->c_str()),
            errdetail("It will be retried. This statement keeps waiting and can be canceled."));
  });
}

void Execution::TellRest(const Progress& progress) const {
  if (progress.retryable == 0 && progress.failed == 0) {
    return;
  }
  pg::Call([&] {
    ereport(WARNING,
            errmsg("not all rows of vectorizer \"%s\" are up to date: " INT64_FORMAT
                   " wait for a retry, " INT64_FORMAT " failed",
                   progress.name.c_str(), progress.retryable, progress.failed),
            errhint("ai.jobs(%d) shows them with their errors.", DatumGetInt32(vectorizer_.value)));
  });
}

/// The longer a check takes, the less often it is done.
void Execution::Pause(SteadyTime look_began) {
  const auto look = std::chrono::duration_cast<milliseconds>(clock_.Now() - look_began);
  const milliseconds pause = std::clamp(kPauseFactor * look, pause_, 2 * kLongestPause);
  pause_ = std::min(2 * pause_, kLongestPause);
  pg::Call([&] {
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
              static_cast<long>(pause.count()), event_);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
  });
}

void Execution::Run() {
  for (bool woken = false;;) {
    const SteadyTime began = clock_.Now();
    const std::optional<Progress> progress = Check();
    if (progress && progress->state != "enabled") {
      Refuse("vectorizer \"" + progress->name + "\" is " + progress->state,
             progress->state == "paused"
                 ? "End the pause with ai.resume_vectorizer or ai.resume_workers."
                 : "Enable it with ai.enable_vectorizer_schedule.");
    }
    CheckWorkers();
    if (progress && !progress->unfinished) {
      TellRest(*progress);
      return;
    }
    if (progress) {
      TellTrouble(*progress);
    }
    if (!std::exchange(woken, true)) {
      WakeWorkersFor(&pg::kEverything, 1);
    }
    Pause(began);
  }
}

std::int32_t FindVectorizer(const NullableDatum& name) {
  std::int32_t vectorizer = 0;
  const bool looked = ReadWithoutLocks(
      [&](pg::Spi&) { vectorizer = pg::Call([&] { return pg::VectorizerIdOf(name); }); });
  if (!looked) {
    Refuse("the extension is being dropped", "Try again later.");
  }
  return vectorizer;
}

}  // namespace

}  // namespace ai::worker

AI_FUNCTION(ai_execute_vectorizer_by_id) {
  ai::worker::RequireUntouchedTransaction();
  ai::worker::Execution(fcinfo->args[0]).Run();
  PG_RETURN_VOID();
}

AI_FUNCTION(ai_execute_vectorizer_by_name) {
  ai::worker::RequireUntouchedTransaction();
  const std::int32_t id = ai::worker::FindVectorizer(fcinfo->args[0]);
  ai::worker::Execution({Int32GetDatum(id), false}).Run();
  PG_RETURN_VOID();
}
