// The process that looks after one database: finds out whether the extension is there, keeps its
// workers running, gives back the rows of those that died. It does no work on rows itself.
#include <algorithm>

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/child.hpp"
#include "worker/extension.hpp"
#include "worker/housekeeping.hpp"
#include "worker/index_keeper.hpp"
#include "worker/process.hpp"
#include "worker/shared_state.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai coordinator";
constexpr ChildKind kWorker{"ai worker", "ai_worker_main"};
constexpr std::chrono::seconds kHousekeepingInterval{60};
constexpr std::chrono::seconds kBusyInterval{1};  // while somebody is dropping the extension

class Coordinator final {
 public:
  explicit Coordinator(DatabaseSlot& slot) : slot_(slot), indexes_(slot) {}
  void Run();

 private:
  bool Turn();
  bool Judge(const Extension& extension);
  int WantedWorkers(const Extension& extension);
  void KeepWorkers(int wanted);
  void KeepWorker(int number, bool wanted);
  void KeepHouse();
  std::string LiveLeases() const;

  DatabaseSlot& slot_;
  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  SteadyTime next_housekeeping_;  // the first is at once
  Oid extension_ = InvalidOid;
  Child workers_[kMaxWorkers];
  bool ran_[kMaxWorkers] = {};
  FullServerNotice full_server_;
  IndexKeeper indexes_;
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

void Coordinator::KeepWorker(int number, bool wanted) {
  ProcessSlot& process = slot_.workers[number].process;
  const bool runs = workers_[number].Runs(process, now_);
  if (ran_[number] && !runs) {
    next_housekeeping_ = now_;
  }
  ran_[number] = runs;
  if (runs && !wanted) {
    const SharedLock lock;
    End(process);
  }
  if (runs || !wanted) {
    return;
  }
  if (now_ < workers_[number].NotBefore()) {
    next_turn_ = std::min(next_turn_, workers_[number].NotBefore());
  } else if (workers_[number].Start(kWorker, slot_.database, number, process, now_)) {
    ran_[number] = true;
    full_server_.Started();
  } else {
    next_turn_ = std::min(next_turn_, workers_[number].NotBefore());
    full_server_.Refused(kWorker.title);
  }
}

void Coordinator::KeepWorkers(int wanted) {
  for (int number = 0; number < kMaxWorkers; ++number) {
    KeepWorker(number, number < wanted);
  }
}

/// The ids of the running workers, as the text of a uuid[].
std::string Coordinator::LiveLeases() const {
  char leases[kMaxWorkers][sizeof(WorkerSlot::lease)];
  int count = 0;
  {
    const SharedLock lock;
    for (const WorkerSlot& worker : slot_.workers) {
      if (worker.process.pid != 0 && worker.lease[0] != '\0') {
        std::memcpy(leases[count++], worker.lease, sizeof(worker.lease));
      }
    }
  }
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::string(leases[i]);
  }
  return text + "}";
}

void Coordinator::KeepHouse() {
  if (now_ < next_housekeeping_) {
    return;
  }
  next_housekeeping_ = now_ + kHousekeepingInterval;
  const std::string live = LiveLeases();
  ShowActivity("giving back the rows of workers that are gone");
  if (ReclaimRows(live)) {
    WakeWorkers(slot_);
  }
  ShowActivity("removing old history");
  PruneHistory(live);
}

/// False when there is nothing left to look after.
bool Coordinator::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + milliseconds(pg::settings.poll_interval);
  ShowActivity("looking after workers");
  const Extension extension = LookAtExtension();
  if (extension.presence == Presence::kBusy) {
    next_turn_ = now_ + kBusyInterval;
    return true;
  }
  if (!Judge(extension)) {
    return false;
  }
  KeepWorkers(WantedWorkers(extension));
  if (extension.FitsLibrary()) {
    KeepHouse();
    next_turn_ = std::min(next_turn_, indexes_.Turn(now_));
  }
  return true;
}

void Coordinator::Run() {
  const WaitReason idle("looking after workers", "AiCoordinatorMain");
  pg::TurnMemory memory("ai coordinator turn");
  RecurringError trouble("look after the workers");
  bool goes_on = true;
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
    if (goes_on) {
      idle.Wait(std::chrono::ceil<milliseconds>(std::max(next_turn_ - clock_.Now(), {})));
    }
    goes_on = goes_on && slot_.suspended == 0;
  }
  const SharedLock lock;
  EndProcesses(slot_);
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
