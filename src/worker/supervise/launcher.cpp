#include "worker/supervise/launcher.hpp"

#include <algorithm>
#include <map>

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/process/child.hpp"
#include "worker/process/liveness.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/database_list.hpp"
#include "worker/supervise/pool_keeper.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai launcher";
constexpr ChildKind kCoordinator{"ai coordinator", "ai_coordinator_main"};
constexpr int kMaxChecking = 4;             // coordinators still checking whether they are needed
constexpr milliseconds kSlotInterval{200};  // while a database waits for a slot

class Launcher final {
 public:
  void Run();

 private:
  struct Database {
    Child coordinator;
    bool no_extension = false;  // as far as we know
    bool served = false;        // it has a coordinator
    bool waits = false;         // for one
    SteadyTime since = {};      // of either
  };

  void Turn();
  void Forget(const std::vector<Oid>& databases);
  std::optional<policy::PoolClaim> ClaimFor(Oid oid, Database& database);
  policy::PoolClaim ClaimOf(const DatabaseSlot& slot, Database& database);
  void Examine(ProcessSlot& coordinator);
  bool IsWanted(Oid oid, Database& database);
  void Start(const PoolKeeper::Candidate& candidate, int slots);

  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  int checking_ = 0;  // coordinators that are checking, in this turn
  std::map<Oid, Database> databases_;
  bool full_table_logged_ = false;
  PoolKeeper pool_;
};

/// Cleans up databases that are not, or no longer, to be served.
void Launcher::Forget(const std::vector<Oid>& databases) {
  const auto is_listed = [&](Oid oid) {
    return std::find(databases.begin(), databases.end(), oid) != databases.end();
  };
  std::erase_if(databases_, [&](const auto& known) { return !is_listed(known.first); });
  const SharedLock lock;
  for (DatabaseSlot& slot : Shared()->databases) {
    if (slot.database != InvalidOid && !is_listed(slot.database)) {
      TerminateProcesses(slot);
      slot.check_requested = false;
      ReleaseDatabase(slot);
    }
  }
  if (Shared()->check_all) {
    Shared()->check_all = false;
    for (auto& [oid, database] : databases_) {
      database.no_extension = false;
    }
  }
}

/// Whether a coordinator has to be started. Takes over what the last one found.
bool Launcher::IsWanted(Oid oid, Database& database) {
  const SharedLock lock;
  DatabaseSlot* slot = FindDatabase(oid);
  if (slot == nullptr) {
    return !database.no_extension;
  }
  database.no_extension = !slot->check_requested && slot->finding == Finding::kNoExtension;
  if (database.no_extension) {
    ReleaseDatabase(*slot);
    return false;
  }
  if (IsDormant(*slot, now_)) {
    next_turn_ = std::min(next_turn_, slot->pool.check_at);
    return false;
  }
  return slot->suspended == 0;
}

void Launcher::Start(const PoolKeeper::Candidate& candidate, int slots) {
  DatabaseSlot* slot = nullptr;
  {
    const SharedLock lock;
    slot = ReserveDatabase(candidate.database);
    if (slot != nullptr) {
      slot->pool.by_timer = IsUnchanged(*slot);
      slot->finding = Finding::kUnknown;
    }
  }
  if (slot == nullptr) {
    if (!std::exchange(full_table_logged_, true)) {
      pg::Call([] {
        ereport(LOG, errmsg("ai serves at most %d databases", kMaxDatabases),
                errhint("List the databases to serve in ai.databases."));
      });
    }
    return;
  }
  slot->pool.wanted = candidate.claim.wanted;
  slot->pool.granted = slots;
  slot->pool.waits_since = SteadyTime();
  Child& coordinator = databases_[candidate.database].coordinator;
  if (coordinator.Start(kCoordinator, candidate.database, 0, slot->coordinator, now_)) {
    ++checking_;
  } else {
    next_turn_ = std::min(next_turn_, coordinator.NotBefore());
  }
}

/// A coordinator that hangs supervises nothing; its successor records that in ai.worker. One that
/// replies may take its time: its maintenance of a database's tables can be long.
void Launcher::Examine(ProcessSlot& coordinator) {
  policy::LivenessTimeouts timeouts = CurrentLivenessTimeouts();
  timeouts.stall = std::chrono::hours(24 * 365);
  const policy::Liveness found = policy::CheckLiveness(LivenessOf(coordinator), timeouts, now_);
  const SharedLock lock;
  if (found == policy::Liveness::kToBePinged) {
    Ping(coordinator);
    next_turn_ = std::min(next_turn_, now_ + timeouts.ForReply() + milliseconds(1));
  } else if (found != policy::Liveness::kAlive) {
    TerminateStopped(coordinator);
  }
}

/// The claim of a database that is being served.
policy::PoolClaim Launcher::ClaimOf(const DatabaseSlot& slot, Database& database) {
  if (!std::exchange(database.served, true)) {
    database.since = now_;
  }
  database.waits = false;
  const PoolPart& pool = slot.pool;
  return {.wanted = std::max(pool.wanted.load(), 1),
          .held = std::max({pool.granted.load(), CountProcesses(slot), 1}),
          .served = true,
          .pinned = pool.pinned,
          .since = database.since};
}

/// The claim of any database; nothing if it needs no process.
std::optional<policy::PoolClaim> Launcher::ClaimFor(Oid oid, Database& database) {
  DatabaseSlot* slot = FindDatabase(oid);
  if (slot != nullptr && database.coordinator.Runs(slot->coordinator, now_)) {
    checking_ += slot->finding == Finding::kUnknown ? 1 : 0;
    Examine(slot->coordinator);
    return ClaimOf(*slot, database);
  }
  database.served = false;
  const bool wanted = IsWanted(oid, database);
  if (!wanted || now_ < database.coordinator.NotBefore()) {
    if (wanted) {
      next_turn_ = std::min(next_turn_, database.coordinator.NotBefore());
    }
    if (std::exchange(database.waits, false) && slot != nullptr) {
      slot->pool.waits_since = SteadyTime();
    }
    return std::nullopt;
  }
  if (!std::exchange(database.waits, true)) {
    database.since = now_;
  }
  slot = FindDatabase(oid);
  return policy::PoolClaim{.wanted = SlotsWanted(slot),
                           .held = slot == nullptr ? 0 : CountProcesses(*slot),
                           .since = database.since};
}

void Launcher::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + CheckInterval();
  checking_ = 0;
  const std::vector<Oid> databases = ListDatabases();
  Forget(databases);
  std::vector<PoolKeeper::Candidate> candidates;
  for (const Oid oid : databases) {
    if (const auto claim = ClaimFor(oid, databases_[oid])) {
      candidates.push_back({oid, *claim});
    }
  }
  const std::vector<int> slots = pool_.Share(candidates, now_);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].claim.served && slots[i] > 0 && checking_ < kMaxChecking) {
      Start(candidates[i], slots[i]);
    }
  }
  if (pool_.HasWaiting()) {
    next_turn_ = std::min(next_turn_, now_ + kSlotInterval);
  }
}

void Launcher::Run() {
  const WaitReason idle("waiting for databases to serve", "AiLauncherMain");
  pg::TurnMemory memory("ai launcher turn");
  RecurringError trouble("check for databases to serve");
  while (!ShutdownRequested()) {
    {
      const pg::TurnMemory::Turn turn(memory);
      ShowActivity("checking for databases to serve");
      try {
        Turn();
        trouble.Succeeded();
      } catch (const std::exception& error) {
        trouble.Failed(error);
      }
    }
    idle.Wait(std::chrono::ceil<milliseconds>(std::max(next_turn_ - clock_.Now(), {})));
  }
}

}  // namespace

void RegisterLauncher() {
  BackgroundWorker worker{};
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = 5;
  strlcpy(worker.bgw_name, kTitle, sizeof(worker.bgw_name));
  strlcpy(worker.bgw_type, kTitle, sizeof(worker.bgw_type));
  strlcpy(worker.bgw_library_name, "ai", sizeof(worker.bgw_library_name));
  strlcpy(worker.bgw_function_name, "ai_launcher_main", sizeof(worker.bgw_function_name));
  pg::Call([&] { RegisterBackgroundWorker(&worker); });
}

}  // namespace ai::worker

extern "C" PGDLLEXPORT void ai_launcher_main(Datum);

void ai_launcher_main(Datum) {
  ai::worker::InstallSignalHandlers();
  ai::pg::Boundary([] {
    ai::worker::Occupy(ai::worker::Shared()->launcher, nullptr);
    ai::worker::Connect(InvalidOid, "ai launcher");
    ai::worker::Launcher().Run();
  });
  // Exit code 0 would stop the launcher for good; one that is terminated has to be restarted.
  proc_exit(1);
}
