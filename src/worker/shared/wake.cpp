#include "worker/shared/wake.hpp"

#include <bit>
#include <csignal>

#include "pg/queue/queue_notes.hpp"
#include "worker/shared/muted_queues.hpp"

namespace ai::worker {

void Wake(const ProcessSlot& process) noexcept {
  const int proc_number = process.proc_number.load();
  if (proc_number != kNobody) {
    SetLatch(&ProcGlobal->allProcs[proc_number].procLatch);
  }
}

namespace {

/// Wakes each sleeping worker once; see SleepScope. A process that has exited may have left its bit
/// set, which is harmless.
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
    WakeForWork(slot);
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
      slot->check_requested = true;
      slot->extension_changes.fetch_add(1);
      Wake(slot->coordinator);
      WakeWorkers(*slot);
      // A worker that waits for a possible DROP EXTENSION to finish takes no events.
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
    WakeForWork(*slot);
  }
}

void Ping(ProcessSlot& process) noexcept {
  process.life.pinged = std::chrono::steady_clock::now();
  const pid_t pid = process.pid;
  if (pid != 0) {
    kill(pid, SIGUSR2);
  }
}

void Terminate(const ProcessSlot& process) noexcept {
  if (process.pid != 0) {
    kill(process.pid, SIGTERM);
  }
}

void TerminateStopped(ProcessSlot& process) noexcept {
  process.life.declared_dead = true;
  if (process.pid != 0) {
    kill(process.pid, SIGTERM);
    kill(process.pid, SIGCONT);
  }
}

void TerminateProcesses(const DatabaseSlot& slot) noexcept {
  Terminate(slot.coordinator);
  Terminate(slot.indexer);
  Terminate(slot.reconciler);
  for (const WorkerSlot& worker : slot.workers) {
    Terminate(worker.process);
  }
}

}  // namespace ai::worker
