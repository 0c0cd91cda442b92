#include "worker/shared_state.hpp"

namespace ai::worker {

namespace {

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Oid>::is_always_lock_free &&
                  std::atomic<SteadyTime>::is_always_lock_free,
              "an atomic in shared memory must not have a lock of its own");
static_assert(std::is_trivially_destructible_v<SharedState>);

constexpr const char* kName = "ai";

shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;
SharedState* shared = nullptr;
LWLock* lock = nullptr;

void RequestMemory() {
  if (next_request_hook != nullptr) {
    next_request_hook();
  }
  RequestAddinShmemSpace(MAXALIGN(sizeof(SharedState)));
  RequestNamedLWLockTranche(kName, 1);
}

/// After a crash the server makes its memory anew and calls this again.
void InitializeMemory() {
  if (next_startup_hook != nullptr) {
    next_startup_hook();
  }
  bool found = false;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  void* memory = ShmemInitStruct(kName, sizeof(SharedState), &found);
  shared = found ? static_cast<SharedState*>(memory) : new (memory) SharedState;
  lock = &GetNamedLWLockTranche(kName)->lock;
  LWLockRelease(AddinShmemInitLock);
}

/// For another database, or for none.
void Reset(DatabaseSlot& slot, Oid database) {
  slot.finding = Finding::kUnknown;
  slot.asked = false;
  slot.suspended = 0;
  slot.coordinator.ended_well = false;
  slot.indexer.ended_well = false;
  for (WorkerSlot& worker : slot.workers) {
    worker.process.ended_well = false;
    worker.lease[0] = '\0';
  }
  slot.database = database;
}

}  // namespace

void InstallSharedState() {
  next_request_hook = shmem_request_hook;
  shmem_request_hook = RequestMemory;
  next_startup_hook = shmem_startup_hook;
  shmem_startup_hook = InitializeMemory;
}

SharedState* Shared() noexcept {
  return shared;
}

SharedLock::SharedLock() noexcept {
  LWLockAcquire(lock, LW_EXCLUSIVE);
}

SharedLock::~SharedLock() {
  LWLockRelease(lock);
}

DatabaseSlot* FindDatabase(Oid database) noexcept {
  if (shared == nullptr || database == InvalidOid) {
    return nullptr;
  }
  for (DatabaseSlot& slot : shared->databases) {
    if (slot.database.load(std::memory_order_relaxed) == database) {
      return &slot;
    }
  }
  return nullptr;
}

DatabaseSlot* ReserveDatabase(Oid database) noexcept {
  if (DatabaseSlot* known = FindDatabase(database); known != nullptr) {
    return known;
  }
  for (DatabaseSlot& slot : shared->databases) {
    if (slot.database == InvalidOid) {
      Reset(slot, database);
      return &slot;
    }
  }
  return nullptr;
}

bool IsEmpty(const DatabaseSlot& slot) noexcept {
  for (const WorkerSlot& worker : slot.workers) {
    if (worker.process.pid != 0) {
      return false;
    }
  }
  return slot.coordinator.pid == 0 && slot.indexer.pid == 0;
}

void ReleaseDatabase(DatabaseSlot& slot) noexcept {
  if (slot.suspended == 0 && !slot.asked && IsEmpty(slot)) {
    Reset(slot, InvalidOid);
  }
}

}  // namespace ai::worker
