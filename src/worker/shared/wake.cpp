#include "worker/shared/wake.hpp"

#include <bit>
#include <csignal>

#include "pg/queue/queue_notes.hpp"
#include "worker/shared/muted_queues.hpp"

namespace ai::worker {

void Wake(const ProcessSlot& process) noexcept {
  const int place = process.place.load();
  if (place != kNobody) {
    SetLatch(&ProcGlobal->allProcs[place].procLatch);
  }
}

namespace {

/// Each once; see Asleep. A process that is gone may have left its bit, which wakes nobody.
void WakeSleeping(DatabaseSlot& slot) noexcept {
  if (slot.sleeping.load() == 0) {
    return;
  }
  for (std::uint32_t left = slot.sleeping.exchange(0); left != 0; left &= left - 1) {
    Wake(slot.workers[std::countr_zero(left)].process);
  }
}

void Tell(DatabaseSlot& slot, const Oid* queues, int count) noexcept {
  bool to_be_woken = false;
  for (int i = 0; i < count; ++i) {
    if (queues[i] == pg::kEverything) {
      slot.catalog_changes.fetch_add(1);
    }
    slot.events.Publish(queues[i]);
    to_be_woken = to_be_woken || !IsMuted(slot, queues[i]);
  }
  if (to_be_woken) {
    WakeSleeping(slot);
    CallForWork(slot);
  }
}

}  // namespace

void WakeWorkersFor(const Oid* queues, int count) noexcept {
  if (DatabaseSlot* slot = FindDatabase(MyDatabaseId); slot != nullptr) {
    Tell(*slot, queues, count);
  }
}

void WakeWorkers(DatabaseSlot& slot) noexcept {
  Tell(slot, &pg::kEverything, 1);
}

void WakeForExtension() noexcept {
  SharedState* shared = Shared();
  if (shared == nullptr) {
    return;
  }
  {
    const SharedLock lock;
    if (DatabaseSlot* slot = ReserveDatabase(MyDatabaseId); slot != nullptr) {
      slot->asked = true;
      slot->extension_changes.fetch_add(1);
      Wake(slot->coordinator);
      WakeWorkers(*slot);
      // One that leaves the extension alone, because somebody may drop it, takes no events.
      for (const WorkerSlot& worker : slot->workers) {
        Wake(worker.process);
      }
    } else {
      shared->check_all = true;
    }
  }
  Wake(shared->launcher);
}

void WakeAfterPrepared(bool has_extension) noexcept {
  DatabaseSlot* slot = FindDatabase(MyDatabaseId);
  if (slot != nullptr) {
    slot->provider_changes.fetch_add(1);
    slot->requests.fetch_add(1);
  }
  if (slot != nullptr || has_extension) {
    WakeForExtension();
  }
}

void WakeCoordinator() noexcept {
  if (DatabaseSlot* slot = FindDatabase(MyDatabaseId); slot != nullptr) {
    slot->requests.fetch_add(1);
    Wake(slot->coordinator);
    CallForWork(*slot);
  }
}

void Ask(ProcessSlot& process) noexcept {
  process.life.asked = std::chrono::steady_clock::now();
  const pid_t pid = process.pid;
  if (pid != 0) {
    kill(pid, SIGUSR2);
  }
}

void End(const ProcessSlot& process) noexcept {
  if (process.pid != 0) {
    kill(process.pid, SIGTERM);
  }
}

void EndStopped(ProcessSlot& process) noexcept {
  process.life.dismissed = true;
  if (process.pid != 0) {
    kill(process.pid, SIGTERM);
    kill(process.pid, SIGCONT);
  }
}

void EndProcesses(const DatabaseSlot& slot) noexcept {
  End(slot.coordinator);
  End(slot.indexer);
  End(slot.reconciler);
  for (const WorkerSlot& worker : slot.workers) {
    End(worker.process);
  }
}

}  // namespace ai::worker
