#include "worker/job_waiters.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace ai::worker {
namespace {

/// A session's entry, at its place in the server's array of processes. One of a session that was
/// ended by force stays until its place is used again; who has it is then woken once too often.
struct Entry {
  std::atomic<Oid> database{InvalidOid};  // InvalidOid: it waits for nothing
  Uuid job;                               // written before the database
};

struct Memory {
  std::atomic<int> changing{0};  // transactions, of all databases
  Entry entries[1];              // MaxBackends of them

  static Size Bytes() { return sizeof(Memory) + mul_size(sizeof(Entry), MaxBackends); }
};

static_assert(std::atomic<Oid>::is_always_lock_free && std::is_trivially_destructible_v<Memory>);

constexpr const char* kName = "ai job waiters";

shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;
Memory* memory = nullptr;
bool changing = false;  // jobs, by the current transaction

void RequestMemory() {
  if (next_request_hook != nullptr) {
    next_request_hook();
  }
  RequestAddinShmemSpace(Memory::Bytes());
}

void InitializeMemory() {
  if (next_startup_hook != nullptr) {
    next_startup_hook();
  }
  bool found = false;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  void* place = ShmemInitStruct(kName, Memory::Bytes(), &found);
  memory = found ? static_cast<Memory*>(place) : new (place) Memory;
  if (!found) {
    std::uninitialized_default_construct_n(memory->entries + 1, MaxBackends - 1);
  }
  LWLockRelease(AddinShmemInitLock);
}

Entry& Mine() {
  return memory->entries[MyProc - ProcGlobal->allProcs];
}

template <typename Wanted>
void WakeIf(const Wanted& wanted) noexcept {
  for (int i = 0; memory != nullptr && i < MaxBackends; ++i) {
    const Entry& entry = memory->entries[i];
    if (entry.database.load() == MyDatabaseId && wanted(entry.job)) {
      SetLatch(&ProcGlobal->allProcs[i].procLatch);
    }
  }
}

void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  const bool over =
      event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE;
  if (!changing || !over) {
    return;
  }
  changing = false;
  --memory->changing;
  if (event == XACT_EVENT_COMMIT) {
    WakeAllJobWaiters();
  }
}

}  // namespace

void InstallJobWaiters() {
  next_request_hook = shmem_request_hook;
  shmem_request_hook = RequestMemory;
  next_startup_hook = shmem_startup_hook;
  shmem_startup_hook = InitializeMemory;
  RegisterXactCallback(OnTransactionEnd, nullptr);
}

void WakeJobWaiters(std::span<const Uuid> jobs) noexcept {
  if (!jobs.empty()) {
    WakeIf([&](const Uuid& job) { return std::find(jobs.begin(), jobs.end(), job) != jobs.end(); });
  }
}

void WakeAllJobWaiters() noexcept {
  WakeIf([](const Uuid&) { return true; });
}

void NoteJobsChanging() noexcept {
  if (memory != nullptr && !std::exchange(changing, true)) {
    ++memory->changing;
  }
}

bool JobsAreChanging() noexcept {
  return memory->changing > 0;
}

JobWaiter::JobWaiter(const Uuid& job) noexcept {
  Mine().job = job;
  Mine().database = MyDatabaseId;
}

JobWaiter::~JobWaiter() {
  Mine().database = InvalidOid;
}

}  // namespace ai::worker
