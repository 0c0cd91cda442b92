#include "worker/shared/shared_state.hpp"

namespace ai::worker {

namespace {

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Oid>::is_always_lock_free &&
                  std::atomic<SteadyTime>::is_always_lock_free,
              "atomics in shared memory must be lock-free");

/// Prepares the slot for another database, or frees it.
void Reset(DatabaseSlot& slot, Oid database) {
  slot.finding = Finding::kUnknown;
  slot.check_requested = false;
  slot.suspended = 0;
  slot.sleeping = 0;
  ++slot.catalog_changes;
  slot.pool.Reset();
  slot.pool.seen = CountEvents(slot);
  slot.coordinator.exited_cleanly = false;
  slot.indexer.exited_cleanly = false;
  slot.reconciler.exited_cleanly = false;
  for (WorkerSlot& worker : slot.workers) {
    worker.process.exited_cleanly = false;
    worker.lease[0] = '\0';
  }
  slot.database = database;
}

}  // namespace

DatabaseSlot* FindDatabase(Oid database) noexcept {
  if (Shared() == nullptr || database == InvalidOid) {
    return nullptr;
  }
  for (DatabaseSlot& slot : Shared()->databases) {
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
  for (DatabaseSlot& slot : Shared()->databases) {
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
  return slot.coordinator.pid == 0 && slot.indexer.pid == 0 && slot.reconciler.pid == 0;
}

void ReleaseDatabase(DatabaseSlot& slot) noexcept {
  if (slot.suspended == 0 && !slot.check_requested && IsEmpty(slot)) {
    Reset(slot, InvalidOid);
  }
}

}  // namespace ai::worker
