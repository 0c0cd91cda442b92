// The process that looks after one database: finds out whether the extension is there, keeps its
// workers running, gives back the rows of those that died. It does no work on rows itself.
#include <algorithm>

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/housekeeping.hpp"
#include "worker/index_keeper.hpp"
#include "worker/process.hpp"
#include "worker/reconcile_keeper.hpp"
#include "worker/shared_state.hpp"
#include "worker/supervisor.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai coordinator";
constexpr std::chrono::seconds kHousekeepingInterval{60};
constexpr std::chrono::seconds kBusyInterval{1};  // while somebody is dropping the extension

class Coordinator final {
 public:
  explicit Coordinator(DatabaseSlot& slot)
      : slot_(slot), supervisor_(slot, housekeeping_), indexes_(slot), reconciling_(slot) {}
  void Run();

 private:
  bool Turn();
  bool Judge(const Extension& extension);
  int WantedWorkers(const Extension& extension);
  void Supervise(const Extension& extension);
  void KeepHouse();
  void EndInOrder();

  DatabaseSlot& slot_;
  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  SteadyTime next_housekeeping_;  // the first is at once
  Oid extension_ = InvalidOid;
  Housekeeping housekeeping_;
  Supervisor supervisor_;
  bool supervising_ = false;
  IndexKeeper indexes_;
  ReconcileKeeper reconciling_;
  bool version_said_ = false;
};

/// Whether to go on with this extension. One that was dropped and created again is another one.
bool Coordinator::Judge(const Extension& extension) {
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
    version_said_ = false;
    return pg::settings.workers;
  }
  if (!std::exchange(version_said_, true)) {
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
  supervisor_.Turn(wanted);
  next_turn_ = std::min(next_turn_, supervisor_.NextTurn());
}

void Coordinator::KeepHouse() {
  if (now_ < next_housekeeping_ && !supervisor_.HasLostRows()) {
    return;
  }
  next_housekeeping_ = now_ + kHousekeepingInterval;
  const std::string live = supervisor_.LiveProcesses();
  ShowActivity("giving back the rows of workers that are gone");
  if (!housekeeping_.ReclaimRows(live, "{}").empty()) {
    slot_.deaths.fetch_add(1);
    WakeWorkers(slot_);
  }
  ShowActivity("removing old history");
  housekeeping_.PruneHistory(live);
}

/// False when there is nothing left to look after.
bool Coordinator::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + milliseconds(pg::settings.poll_interval);
  ShowActivity("looking after workers");
  const Extension extension = LookAtExtension();
  if (extension.presence == Presence::kBusy) {
    reconciling_.GiveWay();
    next_turn_ = now_ + kBusyInterval;
    return true;
  }
  if (!Judge(extension)) {
    return false;
  }
  Supervise(extension);
  if (extension.FitsLibrary()) {
    KeepHouse();
    next_turn_ = std::min({next_turn_, indexes_.Turn(now_), reconciling_.Turn(now_)});
  }
  return !supervisor_.IsToEnd();
}

/// The row that says that there is a coordinator goes with it; the row of one that hung stays, and
/// the next one counts it.
void Coordinator::EndInOrder() {
  if (!supervising_ || IsCondemned()) {
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
      }
    }
    NoteTurn();
    if (goes_on) {
      idle.Wait(std::chrono::ceil<milliseconds>(std::max(next_turn_ - clock_.Now(), {})));
    }
    goes_on = goes_on && slot_.suspended == 0;
  }
  NotePhase(policy::Phase::kStopping);
  {
    const SharedLock lock;
    EndProcesses(slot_);
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
