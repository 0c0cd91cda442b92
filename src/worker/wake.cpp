#include "worker/wake.hpp"

#include <csignal>

#include "pg/queue_notes.hpp"

namespace ai::worker {

void Wake(const ProcessSlot& process) noexcept {
  const int place = process.place.load();
  if (place != kNobody) {
    SetLatch(&ProcGlobal->allProcs[place].procLatch);
  }
}

namespace {

/// The events come first: a worker that resets its latch just now sees them before it sleeps. What
/// was said already and is not taken yet needs no other wake.
void Tell(DatabaseSlot& slot, const Oid* queues, int count) noexcept {
  bool is_news = false;
  for (int i = 0; i < count; ++i) {
    is_news = slot.events.Publish(queues[i]) || is_news;
  }
  if (!is_news) {
    return;
  }
  for (const WorkerSlot& worker : slot.workers) {
    Wake(worker.process);
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
    } else {
      shared->look_at_all = true;
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
  process.life.condemned = true;
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
