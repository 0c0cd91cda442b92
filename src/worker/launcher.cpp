#include "worker/launcher.hpp"

#include <algorithm>
#include <map>

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "pg/transaction.hpp"
#include "worker/child.hpp"
#include "worker/life.hpp"
#include "worker/process.hpp"
#include "worker/shared_state.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

namespace {

using std::chrono::milliseconds;

constexpr const char* kTitle = "ai launcher";
constexpr ChildKind kCoordinator{"ai coordinator", "ai_coordinator_main"};
constexpr int kMostLooks = 4;  // coordinators that do not know yet whether they are needed

/// DROP DATABASE was interrupted. 15.4 and later have a name for it.
constexpr int kInvalidDatabase = -2;

bool IsListed(const List* names, const char* database) {
  for (int i = 0; i < list_length(names); ++i) {
    if (std::strcmp(static_cast<const char*>(list_nth(names, i)), database) == 0) {
      return true;
    }
  }
  return names == NIL;
}

bool MayBeServed(const FormData_pg_database& row, const List* names) {
  return row.datallowconn && !row.datistemplate && row.datconnlimit != kInvalidDatabase &&
         IsListed(names, NameStr(row.datname));
}

List* ListedNames() {
  List* names = NIL;
  SplitIdentifierString(pstrdup(pg::settings.databases), ',', &names);
  return names;
}

/// The databases that may be served, whether they have the extension or not.
std::vector<Oid> ListDatabases() {
  std::vector<Oid> databases;
  pg::Transaction transaction;
  pg::Call([&] {
    const List* names = ListedNames();
    Relation catalog = table_open(DatabaseRelationId, AccessShareLock);
    TableScanDesc scan = table_beginscan_catalog(catalog, 0, nullptr);
    while (HeapTuple tuple = heap_getnext(scan, ForwardScanDirection)) {
      const auto* row = reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple));
      if (MayBeServed(*row, names)) {
        databases.push_back(row->oid);
      }
    }
    table_endscan(scan);
    table_close(catalog, AccessShareLock);
  });
  transaction.Commit();
  return databases;
}

class Launcher final {
 public:
  void Run();

 private:
  struct Database {
    Child coordinator;
    bool no_extension = false;  // as far as we know
  };

  void Turn();
  void Forget(const std::vector<Oid>& databases);
  void Look(Oid oid, Database& database);
  void Examine(ProcessSlot& coordinator);
  bool IsWanted(Oid oid, Database& database);
  void Start(Oid oid, Database& database);

  SystemClock clock_;
  SteadyTime now_;
  SteadyTime next_turn_;
  int looks_ = 0;  // under way in this turn
  std::map<Oid, Database> databases_;
  FullServerNotice full_server_;
  bool full_table_said_ = false;
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
  if (Shared()->look_at_all) {
    Shared()->look_at_all = false;
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
  return slot->suspended == 0;
}

void Launcher::Start(Oid oid, Database& database) {
  DatabaseSlot* slot = nullptr;
  {
    const SharedLock lock;
    slot = ReserveDatabase(oid);
    if (slot != nullptr) {
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
  if (database.coordinator.Start(kCoordinator, oid, 0, slot->coordinator, now_)) {
    full_server_.Started();
    ++looks_;
  } else {
    full_server_.Refused(kCoordinator.title);
    next_turn_ = std::min(next_turn_, database.coordinator.NotBefore());
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

void Launcher::Look(Oid oid, Database& database) {
  if (DatabaseSlot* slot = FindDatabase(oid);
      slot != nullptr && database.coordinator.Runs(slot->coordinator, now_)) {
    looks_ += slot->finding == Finding::kUnknown ? 1 : 0;
    Examine(slot->coordinator);
    return;
  }
  if (!IsWanted(oid, database)) {
    return;
  }
  if (now_ < database.coordinator.NotBefore()) {
    next_turn_ = std::min(next_turn_, database.coordinator.NotBefore());
  } else if (looks_ < kMostLooks) {
    Start(oid, database);
  }
}

void Launcher::Turn() {
  now_ = clock_.Now();
  next_turn_ = now_ + CheckInterval();
  looks_ = 0;
  const std::vector<Oid> databases = ListDatabases();
  Forget(databases);
  for (const Oid oid : databases) {
    Look(oid, databases_[oid]);
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

bool IsListed(Oid database) {
  return pg::Call([&] {
    const char* name = get_database_name(database);
    return name != nullptr && IsListed(ListedNames(), name);
  });
}

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
