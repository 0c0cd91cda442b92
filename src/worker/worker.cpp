// The process around the pipeline: waits for what the pipeline waits for and for commits, notes
// that it is alive, and ends in order.
#include <algorithm>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/child.hpp"
#include "worker/extension.hpp"
#include "worker/pipeline.hpp"
#include "worker/process.hpp"
#include "worker/shared_state.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai worker";
constexpr std::chrono::seconds kBusyInterval{1};  // while somebody is dropping the extension

/// How this process is known in the database: its id, and the extension that gave it.
struct Registration {
  std::string lease;  // empty: the extension is not there for us
  Oid extension = InvalidOid;
};

Registration RegisterProcess() {
  std::string id;
  const Extension extension = WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pg::settings.heartbeat_interval)}};
    id = spi.Execute("SELECT ai._worker_start(ai.version(), $1 * interval '1 millisecond')",
                     arguments)
             .TextAt(0, 0)
             .value();
  });
  return {id, extension.oid};
}

class Worker final {
 public:
  Worker(DatabaseSlot& slot, const Registration& registration)
      : slot_(slot), registration_(registration), pipeline_(registration.lease) {}
  void Run();

 private:
  bool MayWork();
  void LookIfDue(std::uint32_t work_seen);
  void Turn();
  void Beat();
  void BeatIfDue();
  void EndInOrder();
  milliseconds UntilNextTurn(std::uint32_t work_seen) const;

  DatabaseSlot& slot_;
  SystemClock clock_;
  Registration registration_;
  std::uint32_t extension_changes_ = 0;  // that have been looked at
  Presence presence_ = Presence::kBusy;  // not known yet
  Pipeline pipeline_;
  WaitFor wait_;
  Tally unreported_;
  SteadyTime last_beat_ = clock_.Now();
  std::uint32_t work_looked_at_ = 0;
  SteadyTime next_look_ = {};
  RecurringError beat_trouble_{"note that a worker process is alive"};
};

/// Looks at the extension again if a commit has changed it, or may be about to.
bool Worker::MayWork() {
  const std::uint32_t changes = slot_.extension_changes;
  if (changes != extension_changes_ || presence_ == Presence::kBusy) {
    const Extension extension = LookAtExtension();
    extension_changes_ = changes;
    const bool is_other = extension.oid != registration_.extension || !extension.FitsLibrary();
    presence_ =
        extension.presence == Presence::kThere && is_other ? Presence::kGone : extension.presence;
  }
  return presence_ == Presence::kThere;
}

/// After every commit that changed a queue, and now and then in case that one was missed.
void Worker::LookIfDue(std::uint32_t work_seen) {
  if (work_seen == work_looked_at_ && clock_.Now() < next_look_) {
    return;
  }
  pipeline_.LookAgain();
  work_looked_at_ = work_seen;
  next_look_ = clock_.Now() + milliseconds(pg::settings.poll_interval);
}

/// An error of the pipeline ends the process, unless it is about to end or the extension has just
/// been dropped.
void Worker::Turn() {
  ShowActivity("working on changes");
  try {
    wait_ = pipeline_.Turn();
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

void Worker::Beat() {
  const Tally latest = pipeline_.TakeTally();
  unreported_.rows_done += latest.rows_done;
  unreported_.errors += latest.errors;
  if (!latest.last_error.empty()) {
    unreported_.last_error = latest.last_error;
  }
  const bool has_error = !unreported_.last_error.empty();
  const Extension extension = WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {
        {TEXTOID, pg::TextDatum(registration_.lease)},
        {INT8OID, Int64GetDatum(unreported_.rows_done)},
        {INT8OID, Int64GetDatum(unreported_.errors)},
        {TEXTOID, has_error ? pg::TextDatum(unreported_.last_error) : Datum{0}, !has_error},
    };
    spi.Execute("SELECT ai._worker_heartbeat($1::uuid, $2, $3, $4)", arguments);
  });
  presence_ = extension.presence;
  if (presence_ == Presence::kThere) {
    unreported_ = {};
  }
}

/// If it cannot be done, the worker goes on: the work is worth more than its record.
void Worker::BeatIfDue() {
  if (clock_.Now() < last_beat_ + milliseconds(pg::settings.heartbeat_interval)) {
    return;
  }
  last_beat_ = clock_.Now();
  try {
    Beat();
    beat_trouble_.WentWell();
  } catch (const std::exception& error) {
    beat_trouble_.Failed(error);
  }
}

milliseconds Worker::UntilNextTurn(std::uint32_t work_seen) const {
  if (presence_ == Presence::kBusy) {
    return kBusyInterval;
  }
  // A statement may have reset the latch that a commit had set; the count tells.
  if (slot_.work != work_seen) {
    return milliseconds(0);
  }
  const auto until_beat = last_beat_ + milliseconds(pg::settings.heartbeat_interval) - clock_.Now();
  return std::clamp(std::chrono::ceil<milliseconds>(until_beat), milliseconds(0),
                    std::min(wait_.at_most, milliseconds(pg::settings.poll_interval)));
}

void Worker::EndInOrder() {
  if (presence_ != Presence::kThere) {
    return;
  }
  ShowActivity("giving back rows");
  AllowLastStatements();
  try {
    pipeline_.GiveBack();
    Beat();
  } catch (const std::exception& error) {
    LogError("give back the rows of a worker process", error);
  }
}

void Worker::Run() {
  const WaitReason idle("waiting for changes", "AiWorkerIdle");
  const WaitReason busy("waiting for a provider", "AiWorkerProvider");
  pg::TurnMemory memory("ai worker turn");
  while (!EndRequested() && slot_.suspended == 0 && presence_ != Presence::kGone) {
    const pg::TurnMemory::Turn turn(memory);
    const std::uint32_t work_seen = slot_.work;
    if (MayWork()) {
      LookIfDue(work_seen);
      Turn();
      BeatIfDue();
    }
    const WaitReason& reason = wait_.fd >= 0 ? busy : idle;
    reason.Wait(UntilNextTurn(work_seen), wait_.fd);
  }
  EndInOrder();
}

/// From here on the coordinator knows the rows of this process for those of a live one.
void PublishLease(WorkerSlot& slot, const std::string& lease) {
  const SharedLock lock;
  strlcpy(slot.lease, lease.c_str(), sizeof(slot.lease));
}

void ConnectAndRun(DatabaseSlot& slot, WorkerSlot& mine) {
  Connect(slot.database, kTitle);
  Registration registration;
  try {
    registration = RegisterProcess();
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
  PublishLease(mine, "");
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
