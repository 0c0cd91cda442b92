// The process around the pipeline: waits for what the pipeline waits for and for commits, notes
// that it is alive, and ends in order.
#include <algorithm>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/pipeline/beater.hpp"
#include "worker/pipeline/health.hpp"
#include "worker/pipeline/pipeline.hpp"
#include "worker/process/child.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/freed_memory.hpp"
#include "worker/process/life.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/owner_share.hpp"
#include "worker/shared/queue_events.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai worker";
constexpr std::chrono::seconds kBusyInterval{1};  // while somebody is dropping the extension

/// How this process is known in the database: its id, and the extension that gave it.
struct Registration {
  std::string lease;  // empty: the extension is not there for us, or we are not wanted any more
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

/// A table that somebody has locked is waited for, until the coordinator loses patience.
Registration RegisterWhenFree() {
  constexpr milliseconds kPause{100};
  const WaitReason locked("getting to work", "AiWorkerStart");
  while (!EndRequested()) {
    ShowActivity("getting to work");
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
  void Heed(const BeatResult& result);
  void Loop();
  void EndInOrder();
  milliseconds UntilNextTurn() const;

  DatabaseSlot& slot_;
  SystemClock clock_;
  Registration registration_;
  std::uint32_t extension_changes_ = 0;  // that have been looked at
  Presence presence_ = Presence::kBusy;  // not known yet
  bool updated_ = false;                 // the extension has another version than we
  Pipeline pipeline_;
  Beater beater_;
  FreedMemory freed_memory_;
  WaitFor wait_;
  EventRing::Cursor cursor_ = 0;  // of the events that it knows of
  bool dismissed_ = false;        // the coordinator has given this process up
};

/// Looks at the extension again if a commit has changed it, or may be about to.
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

/// After commits that changed something. All queues are polled now and then, for what comes by
/// another way.
void Worker::TakeUpEvents() {
  const QueueEvents events = TakeEvents(slot_.events, cursor_);
  if (!events.empty()) {
    pipeline_.Notify(events);
  }
}

/// An error of the pipeline ends the process, unless it is about to end or the extension has just
/// been dropped, or somebody tried to.
void Worker::Turn() {
  ShowActivity("working on changes");
  try {
    wait_ = pipeline_.Turn();
    slot_.workers[MyNumber()].busy = !pipeline_.IsIdle();
    if (pipeline_.IsIdle()) {
      freed_memory_.Return(clock_.Now());
    }
  } catch (const ExtensionAway&) {
    presence_ = Presence::kBusy;
  } catch (...) {
    if (EndRequested()) {
      return;
    }
    presence_ = CheckExtension().presence;
    if (presence_ == Presence::kThere) {
      throw;
    }
  }
}

void Worker::Heed(const BeatResult& result) {
  presence_ = result.extension;
  dismissed_ = !result.is_known;
}

milliseconds Worker::UntilNextTurn() const {
  if (presence_ == Presence::kBusy) {
    return kBusyInterval;
  }
  // Commits do not wake who is awake.
  if (slot_.events.HasNews(cursor_)) {
    return milliseconds(0);
  }
  return std::clamp(std::chrono::ceil<milliseconds>(beater_.next() - clock_.Now()), milliseconds(0),
                    std::min(wait_.at_most, milliseconds(pg::settings.poll_interval)));
}

/// What cannot be done any more, the coordinator does.
void Worker::EndInOrder() {
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
    // Our functions may be other ones now. The tables of vectorizers are most likely as they were;
    // if not, who comes next gives the rows back.
    survive("release the rows of a worker process", [this] { pipeline_.Stop(); });
    return;
  }
  survive("note that a worker process ends", [] { NoteStopping(); });
  survive("release the rows of a worker process", [this] { pipeline_.Stop(); });
  survive("note that a worker process has ended", [this] {
    Heed(beater_.Send());
    NoteStopped();
  });
}

void Worker::Loop() {
  const WaitReason idle("waiting for changes", "AiWorkerIdle");
  const WaitReason busy("waiting for a provider", "AiWorkerProvider");
  pg::TurnMemory memory("ai worker turn");
  while (!EndRequested() && !dismissed_ && slot_.suspended == 0 && presence_ != Presence::kGone) {
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
    const Asleep asleep(slot_, MyNumber());
    reason.Wait(UntilNextTurn(), wait_.fd);
  }
}

/// SIGTERM cancels what is running: that is no error, wherever it was. Who cancels a statement of a
/// worker has it put its rows back, and another one come in its place.
void Worker::Run() {
  try {
    Loop();
  } catch (...) {
    if (!EndRequested() && !CancelRequested()) {
      throw;
    }
  }
  if (CancelRequested() && !EndRequested()) {
    pg::Call([] {
      ereport(LOG, errmsg("ai: a statement of a worker was cancelled: it releases its rows, and "
                          "another worker takes its place"));
    });
  }
  EndInOrder();
}

/// From here on the coordinator knows the rows of this process for those of a live one.
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
    if (!EndRequested()) {
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
  NoteOrderlyEnd();
}

}  // namespace

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_worker_main(Datum database);

void ai_worker_main(Datum database) {
  ai::worker::InstallSignalHandlers();
  ai::pg::Boundary([database] { ai::worker::Work(DatumGetObjectId(database)); });
  proc_exit(0);
}
