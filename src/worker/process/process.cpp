#include "worker/process/process.hpp"

#include <cerrno>
#include <csignal>

#include "pg/compat.hpp"
#include "pg/function_guard.hpp"
#include "pg/guard.hpp"
#include "pg/owner_scope.hpp"
#include "pg/transaction.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

volatile sig_atomic_t shutdown_requested = false;
volatile sig_atomic_t cancel_requested = false;
ProcessSlot* my_slot = nullptr;
const ProcessSlot* my_supervisor = nullptr;
char my_component[64] = "";

void OnTerminate(SIGNAL_ARGS) {
  (void)postgres_signal_arg;
  const int saved_errno = errno;
  // A second signal must not cancel the statements of a clean shutdown.
  if (!shutdown_requested && !proc_exit_inprogress) {
    InterruptPending = true;
    QueryCancelPending = true;
  }
  shutdown_requested = true;
  SetLatch(MyLatch);
  errno = saved_errno;
}

/// SIGINT comes from pg_cancel_backend or from a lock timeout, for which the server signals this
/// process itself. (A user's trigger can raise the same error, which is neither.)
void OnCancel(SIGNAL_ARGS) {
  (void)postgres_signal_arg;
  const int saved_errno = errno;
  if (!proc_exit_inprogress) {
    InterruptPending = true;
    QueryCancelPending = true;
    cancel_requested = cancel_requested || !get_timeout_indicator(LOCK_TIMEOUT, false);
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

/// The supervisor pings this process. One that is only sleeping runs its loop once and thereby
/// shows that it is alive.
void OnPing(SIGNAL_ARGS) {
  (void)postgres_signal_arg;
  const int saved_errno = errno;
  if (my_slot != nullptr) {
    my_slot->life.replied = std::chrono::steady_clock::now();
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

/// Runs when the process has released its locks and left the database: those who wait for that
/// check the slot.
void VacateSlot(int /*code*/, Datum /*argument*/) {
  LeaveIsolation();
  {
    const SharedLock lock;
    my_slot->proc_number = kNobody;
    my_slot->pid = 0;
  }
  if (my_supervisor != nullptr) {
    Wake(*my_supervisor);
  }
}

struct Override {
  const char* name;
  const char* value;
};

/// Settings from ALTER DATABASE ... SET are meant for sessions.
constexpr Override kOverrides[] = {
    {"search_path", "pg_catalog, pg_temp"},
    {"default_transaction_isolation", "read committed"},
    {"default_transaction_read_only", "off"},
    {"default_transaction_deferrable", "off"},
    {"session_replication_role", "origin"},
    {"statement_timeout", "0"},
    {"lock_timeout", "1s"},
    {"max_parallel_workers_per_gather", "0"},
    {"jit", "off"},
#if PG_VERSION_NUM >= 170000
    {"transaction_timeout", "0"},
#endif
};

}  // namespace

namespace {

char database_name[NAMEDATALEN] = "";

/// Sets the activity in pg_stat_activity and in the ps title, where the process's title precedes
/// it.
void Report(BackendState state, const char* activity) {
  char title[NAMEDATALEN + 64];
  pgstat_report_activity(state, activity);
  std::snprintf(title, sizeof(title), "%s%s%s", database_name, *database_name == '\0' ? "" : " ",
                activity);
  set_ps_display(title);
}

}  // namespace

void InstallSignalHandlers() {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, OnTerminate);
  pqsignal(SIGINT, OnCancel);
  pqsignal(SIGUSR2, OnPing);
  BackgroundWorkerUnblockSignals();
}

void Connect(Oid database, const char* application_name) {
  pg::Call([&] {
    if (database == InvalidOid) {
      BackgroundWorkerInitializeConnection(nullptr, nullptr, 0);
    } else {
      BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
    }
    for (const Override& setting : kOverrides) {
      SetConfigOption(setting.name, setting.value, PGC_SUSET, PGC_S_OVERRIDE);
    }
    SetConfigOption("application_name", application_name, PGC_SUSET, PGC_S_OVERRIDE);
  });
  if (database != InvalidOid) {
    pg::InstallFunctionGuard();
    pg::LimitOwnersTime();
    pg::Transaction transaction;
    pg::Call([] {
      // Looks up and caches the conversions to and from UTF-8: PostgreSQL cannot look them up
      // outside of transactions, where most of the work is done.
      SetConfigOption("client_encoding", "UTF8", PGC_SUSET, PGC_S_OVERRIDE);
      const char* name = get_database_name(MyDatabaseId);
      strlcpy(database_name, name == nullptr ? "" : name, sizeof(database_name));
    });
    transaction.Commit();
  }
}

bool Occupy(ProcessSlot& slot, const ProcessSlot* supervisor) {
  {
    const SharedLock lock;
    if (slot.pid != 0) {
      return false;
    }
    slot.pid = MyProcPid;
    slot.last_pid = MyProcPid;
    slot.exited_cleanly = false;
    slot.proc_number = static_cast<int>(MyProc - ProcGlobal->allProcs);
  }
  my_slot = &slot;
  my_supervisor = supervisor;
  slot.life.declared_dead = false;
  NotePhase(policy::Phase::kStarting);
  pg::Call([] { on_shmem_exit(VacateSlot, Datum{0}); });
  return true;
}

void SetComponent(const char* name) noexcept {
  strlcpy(my_component, name, sizeof(my_component));
}

const char* MyComponent() noexcept {
  return my_component[0] == '\0' ? nullptr : my_component;
}

bool IsDeclaredDead() noexcept {
  return my_slot->life.declared_dead;
}

std::uint32_t CrashesInDatabase() noexcept {
  const DatabaseSlot* database = FindDatabase(MyDatabaseId);
  return database == nullptr ? 0 : database->crash_count.load();
}

bool EnterIsolation() noexcept {
  DatabaseSlot* database = FindDatabase(MyDatabaseId);
  pid_t nobody = 0;
  return database != nullptr && (database->isolating == MyProcPid ||
                                 database->isolating.compare_exchange_strong(nobody, MyProcPid));
}

void LeaveIsolation() noexcept {
  if (DatabaseSlot* database = FindDatabase(MyDatabaseId); database != nullptr) {
    pid_t me = MyProcPid;
    database->isolating.compare_exchange_strong(me, 0);
  }
}

void NoteTurn() noexcept {
  my_slot->life.turned = std::chrono::steady_clock::now();
}

void NotePhase(policy::Phase phase) noexcept {
  my_slot->life.since = std::chrono::steady_clock::now();
  my_slot->life.phase = phase;
  NoteTurn();
}

void NoteCleanExit() {
  const SharedLock lock;
  my_slot->exited_cleanly = true;
}

bool ShutdownRequested() noexcept {
  return shutdown_requested;
}

bool CancelRequested() noexcept {
  return cancel_requested;
}

bool EndsProcess(const pg::Error& error) noexcept {
  return error.sqlstate() == ERRCODE_QUERY_CANCELED && (shutdown_requested || cancel_requested);
}

/// A process that exits of its own accord may receive SIGTERM meanwhile: that must not cancel its
/// last statements.
void AllowLastStatements() {
  constexpr int kMilliseconds = 500;
  shutdown_requested = true;
  QueryCancelPending = false;
  pg::Call([] { enable_timeout_after(STATEMENT_TIMEOUT, kMilliseconds); });
}

WaitReason::WaitReason(const char* activity, const char* event_name)
    : activity_(activity), event_(pg::Call([&] { return pg::WaitEventNamed(event_name); })) {}

void WaitReason::Wait(std::chrono::milliseconds at_most, int descriptor) const {
  if (shutdown_requested) {
    return;
  }
  pg::Call([&] {
    constexpr int kAlways = WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH;
    Report(STATE_IDLE, activity_);
    WaitLatchOrSocket(MyLatch, kAlways | (descriptor >= 0 ? WL_SOCKET_READABLE : 0),
                      descriptor >= 0 ? descriptor : PGINVALID_SOCKET,
                      static_cast<long>(at_most.count()), event_);
    ResetLatch(MyLatch);
    // No statement was running that could have been cancelled.
    QueryCancelPending = false;
    cancel_requested = false;
    CHECK_FOR_INTERRUPTS();
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
    }
  });
}

void ShowActivity(const char* activity) {
  pg::Call([&] { Report(STATE_RUNNING, activity); });
}

void LogError(const char* what, const std::exception& error) {
  pg::Call([&] { ereport(LOG, errmsg("ai: could not %s: %s", what, error.what())); });
}

void RecurringError::Failed(const std::exception& error) {
  if (ShutdownRequested() || last_ == error.what()) {
    return;
  }
  last_ = error.what();
  LogError(what_, error);
}

}  // namespace ai::worker
