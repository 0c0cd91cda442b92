// The process that looks after one database: finds out whether the extension is there, keeps its
// workers running while there is work, releases the rows of those that died. It does no work on
// rows itself, and ends when there is nothing to look after.
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
constexpr std::chrono::seconds kBusyInterval{1};  // while somebody is dropping the extension

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
  void DecideOnRest(const Extension& extension);
  void Supervise(const Extension& extension);
  void KeepHouse();
  void HaveHelp();
  Helpers CountHelpers() const;
  bool MayLeave(const Extension& extension);
  void EndInOrder();

  DatabaseSlot& slot_;
  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  SteadyTime next_housekeeping_;  // the first is at once
  Oid extension_ = InvalidOid;
  Roster roster_;
  RecurringError deciding_{"find out when there is something to do"};
  Housekeeping housekeeping_;
  Supervisor supervisor_;
  bool supervising_ = false;
  bool leaves_ = false;  // of its own accord
  IndexKeeper indexes_;
  ReconcileKeeper reconciling_;
};

/// Whether to go on with this extension. One that was dropped and created again is another one.
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
    slot_.pool.version_said = false;
    return pg::settings.workers;
  }
  if (!std::exchange(slot_.pool.version_said, true)) {
    pg::Call([&] {
      ereport(LOG,
              errmsg("ai: the library has version %s, the extension in this database has version "
                     "%s: nothing is processed",
                     LibraryVersion(), extension.version),
              errhint("Run ALTER EXTENSION ai UPDATE; if the library is the older one, restart "
                      "the server."));
    });
  }
  return 0;
}

/// What cannot be found out, because somebody has locked a table, is taken for work.
void Coordinator::DecideOnRest(const Extension& extension) {
  if (!roster_.IsToDecide(now_)) {
    return;
  }
  const bool was_idle = roster_.IsIdle();
  std::optional<SteadyTime> due = now_;
  roster_.BeginToDecide();
  try {
    due = extension.FitsLibrary() ? FindDue(now_) : std::nullopt;
    deciding_.WentWell();
  } catch (const std::exception& error) {
    deciding_.Failed(error);
  }
  roster_.Decide(now_, due);
  if (roster_.IsIdle() && !was_idle) {
    indexes_.CheckAgain();
    reconciling_.CheckAgain();
  }
}

/// Without tables of its version, a worker that runs is only asked to end.
void Coordinator::Supervise(const Extension& extension) {
  const int wanted = WantedWorkers(extension);
  if (!extension.FitsLibrary()) {
    const SharedLock lock;
    for (const WorkerSlot& worker : slot_.workers) {
      End(worker.process);
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

void Coordinator::KeepHouse() {
  if (now_ < next_housekeeping_ && !supervisor_.HasLostRows()) {
    return;
  }
  next_housekeeping_ = now_ + kHousekeepingInterval;
  const std::string live = supervisor_.LiveProcesses();
  ShowActivity("releasing the rows of workers that are gone");
  if (!housekeeping_.ReclaimRows(live, "{}").empty()) {
    slot_.deaths.fetch_add(1);
    WakeWorkers(slot_);
  }
  ShowActivity("removing old history");
  housekeeping_.PruneHistory(live);
}

Helpers Coordinator::CountHelpers() const {
  return {.running = (indexes_.IsRunning() ? 1 : 0) + (reconciling_.IsRunning() ? 1 : 0),
          .waiting = indexes_.IsWaiting() || reconciling_.IsWaiting()};
}

void Coordinator::HaveHelp() {
  const auto has_place = [this] {
    return !roster_.IsToMakeWay() &&
           roster_.HasPlaceForHelper(supervisor_.Running(), CountHelpers());
  };
  next_turn_ = std::min(next_turn_, indexes_.Turn(now_, has_place()));
  next_turn_ = std::min(next_turn_, reconciling_.Turn(now_, has_place()));
}

/// Whether this process is needed no more: nobody is left, and nothing is to do or others come
/// first.
bool Coordinator::MayLeave(const Extension& extension) {
  const bool none_starts = !extension.FitsLibrary() || supervisor_.Running() == 0;
  const bool alone = none_starts && CountProcesses(slot_) == 1 && CountHelpers().running == 0;
  if (roster_.IsToMakeWay()) {
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

/// False when there is nothing left to look after.
bool Coordinator::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + milliseconds(pg::settings.poll_interval);
  ShowActivity("looking after workers");
  roster_.Observe(now_);
  const Extension extension = CheckExtension();
  if (extension.presence == Presence::kBusy) {
    reconciling_.GiveWay();
    next_turn_ = now_ + kBusyInterval;
    return !roster_.IsToMakeWay();
  }
  if (!FollowExtension(extension)) {
    return false;
  }
  DecideOnRest(extension);
  Supervise(extension);
  if (extension.FitsLibrary()) {
    KeepHouse();
    HaveHelp();
  }
  roster_.Claim(WantedWorkers(extension), CountHelpers());
  next_turn_ = std::min(next_turn_, roster_.NextCheck(now_));
  leaves_ = MayLeave(extension);
  return !supervisor_.IsToEnd() && !leaves_;
}

/// The row that says that there is a coordinator goes with it; the row of one that hung stays, and
/// the next one counts it.
void Coordinator::EndInOrder() {
  if (!supervising_ || IsDismissed()) {
    return;
  }
  AllowLastStatements();
  try {
    NoteStopping();
    NoteStopped();
  } catch (const std::exception& error) {
    LogError("note that a coordinator ends", error);
  }
}

void Coordinator::Run() {
  const WaitReason idle("looking after workers", "AiCoordinatorMain");
  pg::TurnMemory memory("ai coordinator turn");
  RecurringError trouble("look after the workers");
  bool goes_on = true;
  NotePhase(policy::Phase::kHealthy);
  while (goes_on && !EndRequested()) {
    {
      const pg::TurnMemory::Turn turn(memory);
      try {
        goes_on = Turn();
        trouble.WentWell();
      } catch (const std::exception& error) {
        trouble.Failed(error);
        goes_on = !roster_.IsToMakeWay();
      }
    }
    NoteTurn();
    if (goes_on) {
      // A statement may have reset the latch that a commit had set.
      const auto wait = roster_.IsCalled() ? milliseconds(0) : next_turn_ - clock_.Now();
      idle.Wait(std::chrono::ceil<milliseconds>(std::max(wait, {})));
    }
    goes_on = goes_on && slot_.suspended == 0;
  }
  NotePhase(policy::Phase::kStopping);
  {
    const SharedLock lock;
    EndProcesses(slot_);
    slot_.pool.unlogged_seen_to = slot_.pool.unlogged_seen_to && leaves_;
  }
  EndInOrder();
}

void Serve(Oid database) {
  DatabaseSlot* slot = FindDatabase(database);
  if (slot == nullptr || !Occupy(slot->coordinator, &Shared()->launcher)) {
    return;
  }
  bool suspended = false;
  {
    const SharedLock lock;
    // From here on we see ourselves whether the extension comes.
    slot->asked = false;
    suspended = slot->suspended > 0;
  }
  if (!suspended) {
    Connect(database, kTitle);
    SetComponent(kCoordinator);
    Coordinator(*slot).Run();
  }
  NoteOrderlyEnd();
}

}  // namespace

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_coordinator_main(Datum database);

void ai_coordinator_main(Datum database) {
  ai::worker::InstallSignalHandlers();
  ai::pg::Boundary([database] { ai::worker::Serve(DatumGetObjectId(database)); });
  proc_exit(0);
}
