// The background process that supervises one database: checks whether the extension is installed,
// keeps its workers running while there is work, and releases the rows of workers that crashed. It
// processes no rows itself and exits when there is nothing left to supervise.
#include <algorithm>

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/housekeeping.hpp"
#include "worker/supervise/roster.hpp"
#include "worker/supervise/supervisor.hpp"
#include "worker/upkeep/index_keeper.hpp"
#include "worker/upkeep/reconcile_keeper.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai coordinator";
constexpr std::chrono::seconds kHousekeepingInterval{60};
constexpr std::chrono::seconds kBusyInterval{1};  // while the extension is being dropped

class Coordinator final {
 public:
  explicit Coordinator(DatabaseSlot& slot)
      : slot_(slot),
        roster_(slot, clock_.Now()),
        supervisor_(slot, housekeeping_),
        indexes_(slot),
        reconciling_(slot) {}
  void Run();

 private:
  bool Turn();
  bool FollowExtension(const Extension& extension);
  int WantedWorkers(const Extension& extension);
  void DecideIdle(const Extension& extension);
  void Supervise(const Extension& extension);
  void RunHousekeeping();
  void RunHelpers();
  Helpers CountHelpers() const;
  bool MayLeave(const Extension& extension);
  void Shutdown();

  DatabaseSlot& slot_;
  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  SteadyTime next_housekeeping_;  // the first one is due immediately
  Oid extension_ = InvalidOid;
  Roster roster_;
  RecurringError deciding_{"determine when work is next due"};
  Housekeeping housekeeping_;
  Supervisor supervisor_;
  bool supervising_ = false;
  bool leaves_ = false;  // exits because the database is idle
  IndexKeeper indexes_;
  ReconcileKeeper reconciling_;
};

/// Whether to keep serving this extension. One that was dropped and re-created is a different one.
bool Coordinator::FollowExtension(const Extension& extension) {
  if (extension.presence == Presence::kGone) {
    const SharedLock lock;
    slot_.finding = Finding::kNoExtension;
    return false;
  }
  if (extension_ == InvalidOid) {
    extension_ = extension.oid;
  }
  const SharedLock lock;
  slot_.finding = Finding::kServed;
  return extension.oid == extension_;
}

int Coordinator::WantedWorkers(const Extension& extension) {
  if (extension.FitsLibrary()) {
    slot_.pool.version_logged = false;
    return pg::settings.workers;
  }
  if (!std::exchange(slot_.pool.version_logged, true)) {
    pg::Call([&] {
      ereport(LOG,
              errmsg("ai: library version %s does not match extension version %s in this "
                     "database, processing is suspended",
                     LibraryVersion(), extension.version),
              errhint("Run ALTER EXTENSION ai UPDATE; if the library is the older one, restart "
                      "the server."));
    });
  }
  return 0;
}

/// If a locked table prevents the check, the database is assumed to have work.
void Coordinator::DecideIdle(const Extension& extension) {
  if (!roster_.IsToDecide(now_)) {
    return;
  }
  const bool was_idle = roster_.IsIdle();
  std::optional<SteadyTime> due = now_;
  roster_.BeginToDecide();
  try {
    due = extension.FitsLibrary() ? FindDue(now_) : std::nullopt;
    deciding_.Succeeded();
  } catch (const std::exception& error) {
    deciding_.Failed(error);
  }
  roster_.Decide(now_, due);
  if (roster_.IsIdle() && !was_idle) {
    indexes_.CheckAgain();
    reconciling_.CheckAgain();
  }
}

/// If the extension's version does not match the library, running workers are only terminated.
void Coordinator::Supervise(const Extension& extension) {
  const int wanted = WantedWorkers(extension);
  if (!extension.FitsLibrary()) {
    const SharedLock lock;
    for (const WorkerSlot& worker : slot_.workers) {
      Terminate(worker.process);
    }
    return;
  }
  if (!supervising_) {
    supervisor_.Begin();
    supervising_ = true;
  }
  supervisor_.Turn(roster_.Workers(now_, wanted, CountHelpers()), wanted);
  next_turn_ = std::min(next_turn_, supervisor_.NextTurn());
  if (!supervisor_.IsSettled()) {
    roster_.NoteActivity(now_);
  }
}

void Coordinator::RunHousekeeping() {
  if (now_ < next_housekeeping_ && !supervisor_.HasLostRows()) {
    return;
  }
  next_housekeeping_ = now_ + kHousekeepingInterval;
  const std::string live = supervisor_.LiveProcesses();
  ShowActivity("reclaiming rows of exited workers");
  if (!housekeeping_.ReclaimRows(live, "{}").empty()) {
    slot_.crash_count.fetch_add(1);
    WakeWorkers(slot_);
  }
  ShowActivity("pruning history");
  housekeeping_.PruneHistory(live);
}

Helpers Coordinator::CountHelpers() const {
  return {.running = (indexes_.IsRunning() ? 1 : 0) + (reconciling_.IsRunning() ? 1 : 0),
          .waiting = indexes_.IsWaiting() || reconciling_.IsWaiting()};
}

void Coordinator::RunHelpers() {
  const auto has_slot = [this] {
    return !roster_.MustYield() && roster_.HasSlotForHelper(supervisor_.Running(), CountHelpers());
  };
  next_turn_ = std::min(next_turn_, indexes_.Turn(now_, has_slot()));
  next_turn_ = std::min(next_turn_, reconciling_.Turn(now_, has_slot()));
}

/// Whether this process is no longer needed: no other process of the database is left, and either
/// there is nothing to do or it has to yield its slot.
bool Coordinator::MayLeave(const Extension& extension) {
  const bool none_starts = !extension.FitsLibrary() || supervisor_.Running() == 0;
  const bool alone = none_starts && CountProcesses(slot_) == 1 && CountHelpers().running == 0;
  if (roster_.MustYield()) {
    return alone;
  }
  if (!roster_.IsIdle() || !alone || !indexes_.IsIdle() || !reconciling_.IsIdle()) {
    return false;
  }
  if (supervising_ && extension.FitsLibrary()) {
    supervisor_.ForgetEnded();
  }
  return roster_.Leave();
}

/// False when there is nothing left to supervise.
bool Coordinator::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + milliseconds(pg::settings.poll_interval);
  ShowActivity("supervising workers");
  roster_.Observe(now_);
  const Extension extension = CheckExtension();
  if (extension.presence == Presence::kBusy) {
    reconciling_.Yield();
    next_turn_ = now_ + kBusyInterval;
    return !roster_.MustYield();
  }
  if (!FollowExtension(extension)) {
    return false;
  }
  DecideIdle(extension);
  Supervise(extension);
  if (extension.FitsLibrary()) {
    RunHousekeeping();
    RunHelpers();
  }
  roster_.Claim(WantedWorkers(extension), CountHelpers());
  next_turn_ = std::min(next_turn_, roster_.NextCheck(now_));
  leaves_ = MayLeave(extension);
  return !supervisor_.IsToEnd() && !leaves_;
}

/// A coordinator that exits cleanly removes its row from ai.worker; the row of one that hung stays,
/// and its successor counts it as a crash.
void Coordinator::Shutdown() {
  if (!supervising_ || IsDeclaredDead()) {
    return;
  }
  AllowLastStatements();
  try {
    NoteStopping();
    NoteStopped();
  } catch (const std::exception& error) {
    LogError("record that the coordinator exits", error);
  }
}

void Coordinator::Run() {
  const WaitReason idle("supervising workers", "AiCoordinatorMain");
  pg::TurnMemory memory("ai coordinator turn");
  RecurringError trouble("supervise the workers");
  bool goes_on = true;
  NotePhase(policy::Phase::kHealthy);
  while (goes_on && !ShutdownRequested()) {
    {
      const pg::TurnMemory::Turn turn(memory);
      try {
        goes_on = Turn();
        trouble.Succeeded();
      } catch (const std::exception& error) {
        trouble.Failed(error);
        goes_on = !roster_.MustYield();
      }
    }
    NoteTurn();
    if (goes_on) {
      // A statement may have reset the latch that a commit had set.
      const auto wait = roster_.HasUnhandledEvents() ? milliseconds(0) : next_turn_ - clock_.Now();
      idle.Wait(std::chrono::ceil<milliseconds>(std::max(wait, {})));
    }
    goes_on = goes_on && slot_.suspended == 0;
  }
  NotePhase(policy::Phase::kStopping);
  {
    const SharedLock lock;
    TerminateProcesses(slot_);
    slot_.pool.unlogged_checked = slot_.pool.unlogged_checked && leaves_;
  }
  Shutdown();
}

void Serve(Oid database) {
  DatabaseSlot* slot = FindDatabase(database);
  if (slot == nullptr || !Occupy(slot->coordinator, &Shared()->launcher)) {
    return;
  }
  bool suspended = false;
  {
    const SharedLock lock;
    // From here on this process checks by itself whether the extension appears.
    slot->check_requested = false;
    suspended = slot->suspended > 0;
  }
  if (!suspended) {
    Connect(database, kTitle);
    SetComponent(kCoordinator);
    Coordinator(*slot).Run();
  }
  NoteCleanExit();
}

}  // namespace

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_coordinator_main(Datum database);

void ai_coordinator_main(Datum database) {
  ai::worker::InstallSignalHandlers();
  ai::pg::Boundary([database] { ai::worker::Serve(DatumGetObjectId(database)); });
  proc_exit(0);
}
