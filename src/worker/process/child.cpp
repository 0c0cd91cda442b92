#include "worker/process/child.hpp"

#include "pg/guard.hpp"

namespace ai::worker {

namespace {

BackgroundWorker Describe(const ChildKind& kind, Oid database, int number) {
  BackgroundWorker worker{};
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = ObjectIdGetDatum(database);
  worker.bgw_notify_pid = MyProcPid;
  std::memcpy(worker.bgw_extra, &number, sizeof(number));
  strlcpy(worker.bgw_name, kind.title, sizeof(worker.bgw_name));
  strlcpy(worker.bgw_type, kind.title, sizeof(worker.bgw_type));
  strlcpy(worker.bgw_library_name, "ai", sizeof(worker.bgw_library_name));
  strlcpy(worker.bgw_function_name, kind.function, sizeof(worker.bgw_function_name));
  return worker;
}

}  // namespace

bool Child::Runs(const ProcessSlot& slot, SteadyTime now) {
  if (handle_ == nullptr) {
    return slot.pid != 0;
  }
  pid_t pid = 0;
  if (pg::Call([&] { return GetBackgroundWorkerPid(handle_, &pid); }) != BGWH_STOPPED) {
    return true;
  }
  pfree(handle_);
  handle_ = nullptr;
  if (slot.exited_cleanly) {
    delay_.ExitedCleanly();
  } else {
    delay_.Failed(now);
  }
  return slot.pid != 0;
}

bool Child::Start(const ChildKind& kind, Oid database, int number, ProcessSlot& slot,
                  SteadyTime now) {
  BackgroundWorker worker = Describe(kind, database, number);
  delay_.Started(now);
  slot.exited_cleanly = false;
  slot.last_pid = 0;
  slot.life.since = slot.life.turned = now;
  slot.life.phase = policy::Phase::kStarting;
  const bool started = pg::Call([&] {
    // The handle must outlive the turn's memory context.
    MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
    const bool registered = RegisterDynamicBackgroundWorker(&worker, &handle_);
    MemoryContextSwitchTo(caller);
    return registered;
  });
  if (!started) {
    handle_ = nullptr;
    delay_.Failed(now);
    NoteRefusal(kind.title, now);
  }
  return started;
}

void Child::TerminateEarly() {
  if (handle_ != nullptr) {
    pg::Call([this] { TerminateBackgroundWorker(handle_); });
  }
}

int MyNumber() {
  int number = 0;
  std::memcpy(&number, MyBgworkerEntry->bgw_extra, sizeof(number));
  return number;
}

}  // namespace ai::worker
