// The process around the pipeline: waits for replies, timers and commits, sends heartbeats, and
// shuts down cleanly.
#include <algorithm>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/pipeline/health.hpp"
#include "worker/pipeline/heartbeat_sender.hpp"
#include "worker/pipeline/pipeline.hpp"
#include "worker/process/child.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/freed_memory.hpp"
#include "worker/process/liveness.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/owner_share.hpp"
#include "worker/shared/queue_events.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai worker";
constexpr std::chrono::seconds kBusyInterval{1};  // while the extension is being dropped

/// The identity of this process in the database: its id, and the extension that issued it.
struct Registration {
  std::string lease;  // empty: the extension is unavailable, or this process was declared dead
  Oid extension = InvalidOid;
};

Registration RegisterProcess() {
  std::string id;
  const Extension extension = WithExtension([&](pg::Spi& spi) {
    const auto interval = static_cast<std::int32_t>(HeartbeatInterval().count());
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(interval)}};
    id = spi.Execute(
                "SELECT ai._worker_start(ai.version(), $1 OPERATOR(pg_catalog.*) "
                "interval '1 millisecond')",
                arguments)
             .TextAt(0, 0)
             .value();
    if (!Register(spi, id)) {
      id.clear();
    }
  });
  return {id, extension.oid};
}

/// Waits for a locked table, until the coordinator declares this process dead.
Registration RegisterWhenFree() {
  constexpr milliseconds kPause{100};
  const WaitReason locked("starting", "AiWorkerStart");
  while (!ShutdownRequested()) {
    ShowActivity("starting");
    try {
      return RegisterProcess();
    } catch (const pg::Error& error) {
      if (!pg::MeetsLock(error)) {
        throw;
      }
    }
    locked.Wait(kPause);
  }
  return {};
}

class Worker final {
 public:
  Worker(DatabaseSlot& slot, const Registration& registration)
      : slot_(slot),
        registration_(registration),
        pipeline_(registration.lease),
        beater_(registration.lease, pipeline_) {}
  void Run();

 private:
  bool MayWork();
  void TakeUpEvents();
  void Turn();
  void Heed(const HeartbeatResult& result);
  void Loop();
  void Shutdown();
  milliseconds UntilNextTurn() const;

  DatabaseSlot& slot_;
  SystemClock clock_;
  Registration registration_;
  std::uint32_t extension_changes_ = 0;  // seen so far
  Presence presence_ = Presence::kBusy;  // not known yet
  bool updated_ = false;                 // the extension's version differs from the library's
  Pipeline pipeline_;
  HeartbeatSender beater_;
  FreedMemory freed_memory_;
  WaitFor wait_;
  EventRing::Cursor cursor_ = 0;  // of the events taken
  bool declared_dead_ = false;    // by the coordinator
};

/// Checks the extension again if a commit has changed it, or may be about to.
bool Worker::MayWork() {
  const std::uint32_t changes = slot_.extension_changes;
  if (changes != extension_changes_ || presence_ == Presence::kBusy) {
    const Extension extension = CheckExtension();
    extension_changes_ = changes;
    const bool is_other = extension.oid != registration_.extension || !extension.FitsLibrary();
    updated_ = extension.oid == registration_.extension && !extension.FitsLibrary();
    presence_ =
        extension.presence == Presence::kThere && is_other ? Presence::kGone : extension.presence;
  }
  return presence_ == Presence::kThere;
}

/// Call after commits that changed something. Periodic full polls find everything else.
void Worker::TakeUpEvents() {
  const QueueEvents events = TakeEvents(slot_.events, cursor_);
  if (!events.empty()) {
    pipeline_.Notify(events);
  }
}

/// An error of the pipeline ends the process, unless it is shutting down or the extension is being
/// dropped.
void Worker::Turn() {
  ShowActivity("processing changes");
  try {
    wait_ = pipeline_.Turn();
    slot_.workers[MyNumber()].busy = !pipeline_.IsIdle();
    if (pipeline_.IsIdle()) {
      freed_memory_.Return(clock_.Now());
    }
  } catch (const ExtensionUnavailable&) {
    presence_ = Presence::kBusy;
  } catch (...) {
    if (ShutdownRequested()) {
      return;
    }
    presence_ = CheckExtension().presence;
    if (presence_ == Presence::kThere) {
      throw;
    }
  }
}

void Worker::Heed(const HeartbeatResult& result) {
  presence_ = result.extension;
  declared_dead_ = !result.is_known;
}

milliseconds Worker::UntilNextTurn() const {
  if (presence_ == Presence::kBusy) {
    return kBusyInterval;
  }
  // Commits do not wake a worker that is awake.
  if (slot_.events.HasEvents(cursor_)) {
    return milliseconds(0);
  }
  return std::clamp(std::chrono::ceil<milliseconds>(beater_.next() - clock_.Now()), milliseconds(0),
                    std::min(wait_.at_most, milliseconds(pg::settings.poll_interval)));
}

/// The coordinator does what fails here.
void Worker::Shutdown() {
  NotePhase(policy::Phase::kStopping);
  if (presence_ != Presence::kThere && !updated_) {
    return;
  }
  ShowActivity("releasing rows");
  AllowLastStatements();
  const auto survive = [](const char* what, const auto& step) {
    try {
      step();
    } catch (const std::exception& error) {
      LogError(what, error);
    }
  };
  if (updated_) {
    // Our SQL functions may have changed. The tables of vectorizers most likely have not; if they
    // have, the next worker releases the rows.
    survive("release the rows of a worker", [this] { pipeline_.Stop(); });
    return;
  }
  survive("record that a worker is stopping", [] { NoteStopping(); });
  survive("release the rows of a worker", [this] { pipeline_.Stop(); });
  survive("record that a worker has stopped", [this] {
    Heed(beater_.Send());
    NoteStopped();
  });
}

void Worker::Loop() {
  const WaitReason idle("waiting for changes", "AiWorkerIdle");
  const WaitReason busy("waiting for a provider", "AiWorkerProvider");
  pg::TurnMemory memory("ai worker turn");
  while (!ShutdownRequested() && !declared_dead_ && slot_.suspended == 0 &&
         presence_ != Presence::kGone) {
    const pg::TurnMemory::Turn turn(memory);
    NoteTurn();
    if (MayWork()) {
      TakeUpEvents();
      Turn();
      if (const auto result = beater_.SendIfDue()) {
        Heed(*result);
      }
    }
    const WaitReason& reason = wait_.fd >= 0 ? busy : idle;
    const SleepScope asleep(slot_, MyNumber());
    reason.Wait(UntilNextTurn(), wait_.fd);
  }
}

/// SIGTERM cancels the running statement, which is not an error. When an administrator cancels a
/// statement of a worker, the worker releases its rows and is restarted.
void Worker::Run() {
  try {
    Loop();
  } catch (...) {
    if (!ShutdownRequested() && !CancelRequested()) {
      throw;
    }
  }
  if (CancelRequested() && !ShutdownRequested()) {
    pg::Call([] {
      ereport(LOG, errmsg("ai: worker exits because its statement was canceled; its rows are "
                          "released and it will be restarted"));
    });
  }
  Shutdown();
}

/// From here on the coordinator knows that the rows of this lease belong to a live process.
void PublishLease(WorkerSlot& slot, const std::string& lease) {
  const SharedLock lock;
  strlcpy(slot.lease, lease.c_str(), sizeof(slot.lease));
}

void ConnectAndRun(DatabaseSlot& slot, WorkerSlot& mine) {
  Registration registration;
  try {
    Connect(slot.database, kTitle);
    ShareWithOtherOwners(slot);
    registration = RegisterWhenFree();
  } catch (...) {
    if (!ShutdownRequested()) {
      throw;
    }
  }
  if (!registration.lease.empty()) {
    PublishLease(mine, registration.lease);
    Worker(slot, registration).Run();
  }
}

void Work(Oid database) {
  DatabaseSlot* slot = FindDatabase(database);
  if (slot == nullptr) {
    return;
  }
  WorkerSlot& mine = slot->workers[MyNumber()];
  if (!Occupy(mine.process, &slot->coordinator)) {
    return;
  }
  SetComponent(ComponentName(MyNumber()).c_str());
  FreedMemory::KeepSome();
  if (slot->suspended == 0) {
    ConnectAndRun(*slot, mine);
  }
  NoteCleanExit();
}

}  // namespace

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_worker_main(Datum database);

void ai_worker_main(Datum database) {
  ai::worker::InstallSignalHandlers();
  ai::pg::Boundary([database] { ai::worker::Work(DatumGetObjectId(database)); });
  proc_exit(0);
}
