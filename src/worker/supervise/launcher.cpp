#include "worker/supervise/launcher.hpp"

#include <algorithm>
#include <map>

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "worker/process/child.hpp"
#include "worker/process/life.hpp"
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
constexpr int kMostLooks = 4;  // coordinators that do not know yet whether they are needed
constexpr milliseconds kPlaceInterval{200};  // while somebody waits for a place

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
  std::optional<policy::PoolClaim> Look(Oid oid, Database& database);
  policy::PoolClaim ClaimOf(const DatabaseSlot& slot, Database& database);
  void Examine(ProcessSlot& coordinator);
  bool IsWanted(Oid oid, Database& database);
  void Start(const PoolKeeper::Candidate& candidate, int places);

  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  int looks_ = 0;  // under way in this turn
  std::map<Oid, Database> databases_;
  bool full_table_said_ = false;
  PoolKeeper pool_;
};

/// Looks after what is not, or no longer, to be served.
void Launcher::Forget(const std::vector<Oid>& databases) {
  const auto is_listed = [&](Oid oid) {
    return std::find(databases.begin(), databases.end(), oid) != databases.end();
  };
  std::erase_if(databases_, [&](const auto& known) { return !is_listed(known.first); });
  const SharedLock lock;
  for (DatabaseSlot& slot : Shared()->databases) {
    if (slot.database != InvalidOid && !is_listed(slot.database)) {
      EndProcesses(slot);
      slot.asked = false;
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

/// Whether a coordinator is missing. Takes over what the last one found.
bool Launcher::IsWanted(Oid oid, Database& database) {
  const SharedLock lock;
  DatabaseSlot* slot = FindDatabase(oid);
  if (slot == nullptr) {
    return !database.no_extension;
  }
  database.no_extension = !slot->asked && slot->finding == Finding::kNoExtension;
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

void Launcher::Start(const PoolKeeper::Candidate& candidate, int places) {
  DatabaseSlot* slot = nullptr;
  {
    const SharedLock lock;
    slot = ReserveDatabase(candidate.database);
    if (slot != nullptr) {
      slot->pool.by_the_clock = IsUnchanged(*slot);
      slot->finding = Finding::kUnknown;
    }
  }
  if (slot == nullptr) {
    if (!std::exchange(full_table_said_, true)) {
      pg::Call([] {
        ereport(LOG, errmsg("ai serves %d databases at most", kMaxDatabases),
                errhint("Name those to serve in ai.databases."));
      });
    }
    return;
  }
  slot->pool.wanted = candidate.claim.wanted;
  slot->pool.granted = places;
  slot->pool.waits_since = SteadyTime();
  Child& coordinator = databases_[candidate.database].coordinator;
  if (coordinator.Start(kCoordinator, candidate.database, 0, slot->coordinator, now_)) {
    ++looks_;
  } else {
    next_turn_ = std::min(next_turn_, coordinator.NotBefore());
  }
}

/// A coordinator that hangs looks after nobody. The next one notes in ai.worker what happened. One
/// that lives may take its time: what it does for the tables of a database can be long.
void Launcher::Examine(ProcessSlot& coordinator) {
  policy::Patience patience = CurrentPatience();
  patience.stall = std::chrono::hours(24 * 365);
  const policy::Diagnosis found = policy::Diagnose(SignsOf(coordinator), patience, now_);
  const SharedLock lock;
  if (found == policy::Diagnosis::kToBeAsked) {
    Ask(coordinator);
    next_turn_ = std::min(next_turn_, now_ + patience.ForAnswer() + milliseconds(1));
  } else if (found != policy::Diagnosis::kWell) {
    EndStopped(coordinator);
  }
}

/// Of a database that is served.
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

/// What a database asks for; nothing if it needs no process.
std::optional<policy::PoolClaim> Launcher::Look(Oid oid, Database& database) {
  DatabaseSlot* slot = FindDatabase(oid);
  if (slot != nullptr && database.coordinator.Runs(slot->coordinator, now_)) {
    looks_ += slot->finding == Finding::kUnknown ? 1 : 0;
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
  return policy::PoolClaim{.wanted = PlacesWanted(slot),
                           .held = slot == nullptr ? 0 : CountProcesses(*slot),
                           .since = database.since};
}

void Launcher::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + CheckInterval();
  looks_ = 0;
  const std::vector<Oid> databases = ListDatabases();
  Forget(databases);
  std::vector<PoolKeeper::Candidate> candidates;
  for (const Oid oid : databases) {
    if (const auto claim = Look(oid, databases_[oid])) {
      candidates.push_back({oid, *claim});
    }
  }
  const std::vector<int> places = pool_.Share(candidates, now_);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].claim.served && places[i] > 0 && looks_ < kMostLooks) {
      Start(candidates[i], places[i]);
    }
  }
  if (pool_.HasWaiting()) {
    next_turn_ = std::min(next_turn_, now_ + kPlaceInterval);
  }
}

void Launcher::Run() {
  const WaitReason idle("waiting for databases to serve", "AiLauncherMain");
  pg::TurnMemory memory("ai launcher turn");
  RecurringError trouble("look for databases to serve");
  while (!EndRequested()) {
    {
      const pg::TurnMemory::Turn turn(memory);
      ShowActivity("looking for databases to serve");
      try {
        Turn();
        trouble.WentWell();
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
  // Not 0: that would be the end of it for good, and who ends a launcher gets another one.
  proc_exit(1);
}
