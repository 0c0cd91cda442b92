#include "unit/simulation/simulator.hpp"

#include <algorithm>

namespace ai::simulation {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Key kKeys = 24;
/// How long the fresh rows of a queue may wait while another one is flooded.
constexpr seconds kMaxAge{300};  // a provider that has limited requests gets few for a while
/// When all is well, everything has to be done by then. Bad rows at a provider are tried one by
/// one, each time that its circuit breaker is half-open; others may come after them.
constexpr hours kMaxTime{12};

Poison AnyPoison(World& world) {
  if (!world.Fault("bad row", 0.12)) {
    return Poison::kNone;
  }
  return static_cast<Poison>(1 + world.random.Below(7));
}

std::size_t AnySize(World& world) {
  return world.Chance(0.03) ? std::size_t{5} << 20 : 10 + world.random.Below(1000);
}

}  // namespace

Simulator::Simulator(std::uint64_t seed, Defect defect) : world_(seed), defect_(defect) {
  BuildWorld();
}

void Simulator::BuildWorld() {
  const auto below = [this](std::uint32_t bound) { return world_.random.Below(bound); };
  world_.providers.resize(1 + below(2));
  const std::uint32_t queues = 2 + below(3);
  for (std::uint32_t i = 0; i < queues; ++i) {
    SimQueue& queue = world_.queues.emplace_back();
    queue.id = static_cast<QueueId>(i + 1);
    queue.owner = 1 + below(3);
    queue.priority = static_cast<int>(below(5)) * 100 - 100;
    queue.provider = static_cast<int>(below(static_cast<std::uint32_t>(world_.providers.size())));
    queue.local = world_.Chance(0.15);
    queue.batch_size = 1 + below(8);
    queue.concurrency = 1 + below(8);
    const std::uint32_t rows = below(kKeys);
    for (std::uint32_t key = 1; key <= rows; ++key) {
      world_.Change(queue, key, AnyPoison(world_), AnySize(world_));
    }
  }
  workers_ = static_cast<int>(1 + below(3));
  slots_.resize(static_cast<std::size_t>(workers_));
  next_act_ = world_.now();
}

SimQueue& Simulator::AnyQueue() {
  return world_.queues[world_.random.Below(static_cast<std::uint32_t>(world_.queues.size()))];
}

Key Simulator::AnyKey() {
  return 1 + world_.random.Below(kKeys);
}

void Simulator::Restart(WorkerSlot& slot) {
  if (slot.lease != 0) {
    world_.Reclaim(slot.lease, std::exchange(slot.died, false));
  }
  slot.lease = ++last_lease_;
  pipeline::Settings settings;
  settings.max_in_flight = 4;
  settings.workers = workers_;
  settings.number = static_cast<int>(&slot - slots_.data());
  slot.worker = std::make_unique<SimWorker>(world_, slot.lease, settings, defect_);
}

void Simulator::RunTurn(WorkerSlot& slot) {
  try {
    slot.worker->Turn();
  } catch (const Crash&) {
    slot.worker.reset();
    slot.died = true;
    slot.restart_at = world_.now() + milliseconds(50 + world_.random.Below(2000));
  }
}

/// Most commits are told to the workers at once; what is missed is found by polling.
void Simulator::Deliver() {
  const std::vector<pipeline::QueueEvent> events(world_.events.begin(), world_.events.end());
  world_.events.clear();
  for (WorkerSlot& slot : slots_) {
    if (slot.worker != nullptr && !events.empty()) {
      slot.worker->Notify(events);
    }
  }
}

SteadyTime Simulator::NextTurn() const {
  SteadyTime next = next_act_;
  for (const WorkerSlot& slot : slots_) {
    next = std::min(next, slot.worker != nullptr ? slot.worker->next_turn() : slot.restart_at);
  }
  return next;
}

void Simulator::RunUntil(SteadyTime end) {
  while (world_.now() < end) {
    if (world_.now() >= next_act_) {
      UserActs();
      FaultActs();
      next_act_ = world_.now() + milliseconds(world_.calm ? 1000 : 20 + world_.random.Below(2000));
    }
    Deliver();
    const std::size_t first = world_.random.Below(static_cast<std::uint32_t>(slots_.size()));
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      WorkerSlot& slot = slots_[(first + i) % slots_.size()];
      if (slot.worker == nullptr && slot.restart_at <= world_.now()) {
        Restart(slot);
      }
      if (slot.worker != nullptr && slot.worker->next_turn() <= world_.now()) {
        RunTurn(slot);
      }
    }
    const SteadyTime next = std::min(NextTurn(), end);
    if (next > world_.now()) {
      world_.clock.Advance(next - world_.now());
    }
  }
}

void Simulator::UserActs() {
  if (flooded_ != nullptr && flooded_->entries.size() < kKeys) {
    for (Key key = 1; key <= kKeys; ++key) {
      world_.Change(*flooded_, key, Poison::kNone, 10);
    }
    world_.events.insert(static_cast<std::uint32_t>(flooded_->id));
  }
  if (world_.calm) {
    return;
  }
  SimQueue& queue = AnyQueue();
  const std::uint32_t rows = world_.random.Below(6);
  for (std::uint32_t i = 0; i < rows && !queue.dropped; ++i) {
    const Key key = AnyKey();
    if (world_.Chance(0.15) && queue.source.contains(key)) {
      world_.Delete(queue, key);
      world_.Count("row deleted");
    } else {
      world_.Change(queue, key, AnyPoison(world_), AnySize(world_));
      world_.Count("row changed");
    }
  }
  if (!world_.Fault("event missed", 0.05)) {
    world_.events.insert(static_cast<std::uint32_t>(queue.id));
  }
}

void Simulator::FaultActs() {
  const auto until = [this](std::uint32_t most) {
    return world_.now() + milliseconds(world_.random.Below(most));
  };
  if (world_.Fault("provider changes its mood", 0.25)) {
    SimProvider& provider =
        world_.providers[world_.random.Below(static_cast<std::uint32_t>(world_.providers.size()))];
    provider.mood = static_cast<Mood>(world_.random.Below(kMoods));
    provider.since = world_.now();
    provider.until = until(30'000);
  }
  SimQueue& queue = AnyQueue();
  bool catalog = false;
  if (world_.Fault("table locked by a user", 0.05)) {
    queue.locked_until = until(10'000);
  }
  if (world_.Fault("row locked by a user", 0.1)) {
    queue.locked_rows[AnyKey()] = until(15'000);
  }
  if (world_.Fault("table that takes nothing", 0.04)) {
    queue.broken_since = world_.now();
    queue.broken_until = until(40'000);
  }
  if (world_.Fault("definition changed", 0.03)) {
    ++queue.definition;
    catalog = true;
  }
  if (world_.Fault("queue paused", 0.03)) {
    queue.paused_until = until(20'000);
    catalog = true;
  }
  if (world_.Fault("queue disabled or enabled", 0.03)) {
    queue.disabled = !queue.disabled;
    catalog = true;
  }
  if (world_.queues.size() > 2 && world_.Fault("queue dropped", 0.005)) {
    queue.dropped = true;
    queue.source.clear();
    queue.target.clear();
    queue.entries.clear();
    queue.work.clear();
    catalog = true;
  }
  if (world_.Fault("owner becomes slow", 0.03)) {
    world_.slow_owners.insert(1 + world_.random.Below(3));
  }
  if (world_.Fault("clock set", 0.02)) {
    world_.clock.SetWall(world_.clock.WallNow() + hours(world_.random.Below(48)) - hours(24));
  }
  WorkerSlot& slot = slots_[world_.random.Below(static_cast<std::uint32_t>(slots_.size()))];
  if (slot.worker != nullptr && world_.Fault("leases lost", 0.02)) {
    world_.Note("worker " + std::to_string(slot.lease) + " loses its leases");
    world_.Reclaim(slot.lease, false);
  } else if (slot.worker != nullptr && world_.Fault("restart", 0.02)) {
    try {
      slot.worker->Stop();
    } catch (const Crash&) {
      slot.died = true;
    }
    slot.worker.reset();
    slot.restart_at = world_.now();
  }
  for (WorkerSlot& other : slots_) {
    if (catalog && other.worker != nullptr) {
      other.worker->NotifyAll();
    }
  }
}

/// Everybody lets go, everything works: what is left to do has to be done.
void Simulator::EndFaults() {
  world_.calm = true;
  world_.slow_owners.clear();
  for (SimProvider& provider : world_.providers) {
    provider.mood = Mood::kWell;
    provider.endpoint.Reset();
  }
  for (SimQueue& queue : world_.queues) {
    queue.disabled = false;
    queue.paused_until = queue.locked_until = queue.broken_until = {};
    queue.locked_rows.clear();
  }
  for (WorkerSlot& slot : slots_) {
    if (slot.worker != nullptr) {
      slot.worker->NotifyAll();
    }
  }
}

/// One queue never runs dry, and has all the priority in the world: others go on nevertheless.
void Simulator::CheckAges() {
  flooded_ = &AnyQueue();
  flooded_->dropped = false;
  flooded_->priority = 32767;
  world_.Count("queue flooded");
  std::vector<SimQueue*> others;
  for (SimQueue& queue : world_.queues) {
    for (auto& [key, row] : queue.source) {
      // Such a row alone looks like an outage, for which others do have to wait.
      if (row.poison == Poison::kFails || row.poison == Poison::kGarbage) {
        row.poison = Poison::kNone;
      }
    }
    if (&queue != flooded_ && !queue.dropped) {
      world_.Change(queue, kKeys + 1, Poison::kNone, 10);
      world_.events.insert(static_cast<std::uint32_t>(queue.id));
      others.push_back(&queue);
    }
  }
  const SteadyTime end = world_.now() + kMaxAge;
  const auto waiting = [&] {
    return std::ranges::find_if(
        others, [](const SimQueue* queue) { return !queue->target.contains(kKeys + 1); });
  };
  while (waiting() != others.end()) {
    if (world_.now() >= end) {
      throw Violation("a row of queue " + std::to_string((*waiting())->id) +
                      " waits for ever while another queue has work");
    }
    RunUntil(world_.now() + seconds(1));
  }
  flooded_ = nullptr;
}

void Simulator::RunUntilDone() {
  const SteadyTime end = world_.now() + kMaxTime;
  while (!world_.Unfinished().empty()) {
    if (world_.now() >= end) {
      throw Violation("not done in the end: " + world_.Unfinished());
    }
    RunUntil(world_.now() + seconds(5));
  }
  for (const WorkerSlot& slot : slots_) {
    const auto in_progress = slot.worker != nullptr ? slot.worker->pipeline().CountInProgress()
                                                    : pipeline::InProgress{.rows = 1};
    if (in_progress.rows == 0 && in_progress.requests == 0) {
      CheckNothingIsKept(*slot.worker);
    }
  }
}

void Simulator::CheckNothingIsKept(const SimWorker& worker) const {
  for (const SimQueue& queue : world_.queues) {
    const auto kept = queue.kept.find(worker.lease());
    if (kept != queue.kept.end() && kept->second > 0) {
      throw Violation("worker " + std::to_string(worker.lease()) + " keeps requests of queue " +
                      std::to_string(queue.id) + " and has nothing in hand");
    }
  }
  if (worker.pipeline().queues().memory().bytes > 0) {
    throw Violation("memory of rows that are over is not free");
  }
}

Result Simulator::Run() {
  Result result;
  try {
    RunUntil(world_.now() + seconds(10 + world_.random.Below(50)));
    EndFaults();
    if (world_.Chance(0.15)) {
      CheckAges();
    }
    RunUntilDone();
  } catch (const Violation& violation) {
    for (const WorkerSlot& slot : slots_) {
      world_.Note(slot.worker != nullptr ? slot.worker->Explain() : "a worker is gone");
    }
    result.violation = violation.text;
  }
  result.history = std::move(world_.history);
  result.counts = std::move(world_.counts);
  return result;
}

}  // namespace ai::simulation
