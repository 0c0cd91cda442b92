// The process around the pipeline: waits for what the pipeline waits for and for commits, notes
// that it is alive, and ends in order.
#include <malloc.h>

#include <algorithm>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/barred_queues.hpp"
#include "worker/child.hpp"
#include "worker/extension.hpp"
#include "worker/health.hpp"
#include "worker/life.hpp"
#include "worker/owner_share.hpp"
#include "worker/pipeline.hpp"
#include "worker/process.hpp"
#include "worker/queue_events.hpp"

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
      : slot_(slot), registration_(registration), pipeline_(registration.lease), barred_(slot) {}
  void Run();

 private:
  bool MayWork();
  void TakeUpEvents();
  void Turn();
  void SendBeat();
  void BeatIfDue();
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
  BarredQueues barred_;
  WaitFor wait_;
  pipeline::Tally unreported_;
  SteadyTime next_beat_;  // the first is at once
  SteadyTime last_beat_ = clock_.Now();
  EventRing::Cursor cursor_ = 0;  // of the events that it knows of
  bool at_work_ = false;          // it has beaten once
  bool dismissed_ = false;        // the coordinator has given this process up
  RecurringError beat_trouble_{"note that a worker process is alive"};
};

/// Looks at the extension again if a commit has changed it, or may be about to.
bool Worker::MayWork() {
  const std::uint32_t changes = slot_.extension_changes;
  if (changes != extension_changes_ || presence_ == Presence::kBusy) {
    const Extension extension = LookAtExtension();
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
    barred_.Look(events, clock_.Now());
    pipeline_.Notify(events);
  }
}

/// An error of the pipeline ends the process, unless it is about to end or the extension has just
/// been dropped, or somebody tried to.
void Worker::Turn() {
  ShowActivity("working on changes");
  try {
    wait_ = pipeline_.Turn();
  } catch (const ExtensionAway&) {
    presence_ = Presence::kBusy;
  } catch (...) {
    if (EndRequested()) {
      return;
    }
    presence_ = LookAtExtension().presence;
    if (presence_ == Presence::kThere) {
      throw;
    }
  }
}

void Worker::SendBeat() {
  const pipeline::Tally latest = pipeline_.TakeTally();
  unreported_.rows_done += latest.rows_done;
  unreported_.errors += latest.errors;
  if (!latest.last_error.empty()) {
    unreported_.last_error = latest.last_error;
  }
  const BeatResult result = Beat({registration_.lease, unreported_, pipeline_.CountInHand()});
  presence_ = result.extension;
  dismissed_ = !result.is_known;
  if (presence_ == Presence::kThere) {
    unreported_ = {};
  }
}

/// If it cannot be done, the worker goes on: the work is worth more than its record, and whoever
/// has locked the table will let go of it. But one that cannot write for any other reason, and for
/// as long as a sign of life may take, achieves nothing: another one takes its place.
void Worker::BeatIfDue() {
  if (clock_.Now() < next_beat_) {
    return;
  }
  next_beat_ = clock_.Now() + HeartbeatInterval();
  try {
    SendBeat();
    if (!std::exchange(at_work_, true)) {
      NotePhase(policy::Phase::kHealthy);
    }
    beat_trouble_.WentWell();
    last_beat_ = clock_.Now();
  } catch (const pg::Error& error) {
    beat_trouble_.Failed(error);
    if (pg::MeetsLock(error)) {
      last_beat_ = clock_.Now();
    } else if (clock_.Now() - last_beat_ > CurrentPatience().timeout) {
      throw;
    }
  } catch (const std::exception& error) {
    beat_trouble_.Failed(error);
  }
}

milliseconds Worker::UntilNextTurn() const {
  if (presence_ == Presence::kBusy) {
    return kBusyInterval;
  }
  // Commits do not wake who is awake.
  if (slot_.events.HasNews(cursor_)) {
    return milliseconds(0);
  }
  return std::clamp(std::chrono::ceil<milliseconds>(next_beat_ - clock_.Now()), milliseconds(0),
                    std::min(wait_.at_most, milliseconds(pg::settings.poll_interval)));
}

/// What cannot be done any more, the coordinator does.
void Worker::EndInOrder() {
  NotePhase(policy::Phase::kStopping);
  if (presence_ != Presence::kThere && !updated_) {
    return;
  }
  ShowActivity("giving back rows");
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
    survive("give back the rows of a worker process", [this] { pipeline_.Stop(); });
    return;
  }
  survive("note that a worker process ends", [] { NoteStopping(); });
  survive("give back the rows of a worker process", [this] { pipeline_.Stop(); });
  survive("note that a worker process has ended", [this] {
    SendBeat();
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
      BeatIfDue();
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
      ereport(LOG, errmsg("ai: a statement of a worker was cancelled: it gives its rows back, and "
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

/// The texts and vectors of a batch are some hundred kilobytes that come and go: what one leaves is
/// kept for the next, up to a limit, and not given back to the system each time. Texts that are
/// long in themselves leave nothing behind.
void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 512 << 10);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
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
  KeepFreedMemory();
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
