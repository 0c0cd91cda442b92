#include "worker/shared/shared_state.hpp"

namespace ai::worker {

namespace {

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Oid>::is_always_lock_free &&
                  std::atomic<SteadyTime>::is_always_lock_free,
              "an atomic in shared memory must not have a lock of its own");

/// For another database, or for none.
void Reset(DatabaseSlot& slot, Oid database) {
  slot.finding = Finding::kUnknown;
  slot.asked = false;
  slot.suspended = 0;
  slot.sleeping = 0;
  ++slot.catalog_changes;
  slot.pool.Reset();
  slot.pool.seen = CountEvents(slot);
  slot.coordinator.ended_well = false;
  slot.indexer.ended_well = false;
  slot.reconciler.ended_well = false;
  for (WorkerSlot& worker : slot.workers) {
    worker.process.ended_well = false;
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
  if (slot.suspended == 0 && !slot.asked && IsEmpty(slot)) {
    Reset(slot, InvalidOid);
  }
}

}  // namespace ai::worker
