#include "worker/endpoint/shared_providers.hpp"

#include <chrono>

#include "core/utf8.hpp"
#include "pg/guard.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

static_assert(std::is_trivially_copyable_v<policy::EndpointState>);

/// The index of this process's database in arrays by database.
int MyDatabase() noexcept {
  const DatabaseSlot* slot = FindDatabase(MyDatabaseId);
  return slot == nullptr ? 0 : static_cast<int>(slot - Shared()->databases);
}

void ReleaseProbes(int /*code*/, Datum /*argument*/) {
  bool released = false;
  {
    const ProvidersLock held;
    for (SharedEndpoint& endpoint : Providers()->endpoints) {
      if (endpoint.id != 0 && endpoint.state.breaker.prober == MyProcPid) {
        endpoint.state.breaker.prober = 0;
        released = true;
      }
    }
  }
  if (released) {
    WakeAllWorkers();
  }
}

}  // namespace

Outcome OutcomeOf(FailureClass failure_class) {
  switch (failure_class) {
    case FailureClass::kDeferred:
      return Outcome::kDeferred;
    case FailureClass::kSuspect:
      return Outcome::kSuspect;
    case FailureClass::kConfiguration:
      return Outcome::kConfiguration;
    case FailureClass::kInvalidReply:
      return Outcome::kInvalidReply;
    default:
      return Outcome::kTransient;
  }
}

std::uint64_t SharedEndpoint::requests() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : outcomes) {
    sum += count;
  }
  return sum;
}

SharedEndpoint* FindEndpoint(std::uint64_t id) noexcept {
  for (SharedEndpoint& endpoint : Providers()->endpoints) {
    if (endpoint.id == id) {
      return &endpoint;
    }
  }
  return nullptr;
}

SharedEndpoint& ReserveEndpoint(std::uint64_t id, std::string_view address,
                                std::string_view key_name) noexcept {
  SharedEndpoint* endpoint = FindEndpoint(id);
  if (endpoint == nullptr) {
    endpoint = Providers()->endpoints;
    for (SharedEndpoint& other : Providers()->endpoints) {
      // A free entry was never used.
      endpoint = other.used_at < endpoint->used_at ? &other : endpoint;
    }
    new (endpoint) SharedEndpoint;
    endpoint->id = id;
    const auto copy = [](char* to, std::size_t size, std::string_view text) {
      text = utf8::Clip(text, size - 1);
      to[text.copy(to, text.size())] = '\0';
    };
    copy(endpoint->address, sizeof(endpoint->address), address);
    copy(endpoint->key_name, sizeof(endpoint->key_name), key_name);
  }
  return *endpoint;
}

DatabaseView& MyView(SharedEndpoint& endpoint) noexcept {
  DatabaseView& view = endpoint.databases[MyDatabase()];
  if (view.database != MyDatabaseId) {
    view = {.database = MyDatabaseId};
  }
  return view;
}

void CombineLimits(SharedEndpoint& endpoint, policy::Micros now) noexcept {
  policy::EndpointLimits limits;
  for (int i = 0; i < kMaxDatabases; ++i) {
    const DatabaseView& view = endpoint.databases[i];
    // Drops the settings of databases that no longer exist.
    if (view.database != InvalidOid && view.database == Shared()->databases[i].database) {
      limits = policy::Strictest(limits, view.limits);
    }
  }
  endpoint.state.SetLimits(limits, now);
}

void NoteLags(std::span<const double> seconds) noexcept {
  const ProvidersLock held;
  SharedLag& lag = Providers()->lags[MyDatabase()];
  if (lag.database != MyDatabaseId) {
    lag = {.database = MyDatabaseId};
  }
  for (const double value : seconds) {
    lag.histogram.Add(value);
  }
}

void ReleaseProbesAtExit() {
  pg::Call([] { on_shmem_exit(ReleaseProbes, Datum{0}); });
}

void WakeAllWorkers() noexcept {
  for (const DatabaseSlot& slot : Shared()->databases) {
    if (slot.database != InvalidOid) {
      for (const WorkerSlot& worker : slot.workers) {
        Wake(worker.process);
      }
    }
  }
}

}  // namespace ai::worker
