#include "worker/pipeline/peers.hpp"

#include "worker/process/process.hpp"
#include "worker/shared/owner_share.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

bool WorkerPeers::EnterIsolation() {
  return worker::EnterIsolation();
}

void WorkerPeers::LeaveIsolation() {
  worker::LeaveIsolation();
}

std::uint32_t WorkerPeers::Crashes() const {
  return CrashesInDatabase();
}

bool WorkerPeers::IsSlow(pipeline::OwnerId owner) const {
  return IsSlowOwner(owner);
}

bool WorkerPeers::HasSlowOwners() const {
  return worker::HasSlowOwners();
}

/// The first worker after the interval wins.
bool WorkerPeers::BeginFullPoll(std::chrono::milliseconds interval) {
  DatabaseSlot* database = FindDatabase(MyDatabaseId);
  const SteadyTime now = std::chrono::steady_clock::now();
  SteadyTime last = database->polled_at;
  // A little less than the interval, since no worker wakes up exactly on time.
  return now >= last + interval * 3 / 4 && database->polled_at.compare_exchange_strong(last, now);
}

void WorkerPeers::Share(pipeline::QueueId queue) {
  if (const auto table = tables_.find(queue); table != tables_.end()) {
    WakeWorkersFor(&table->second, 1);
  }
}

}  // namespace ai::worker
