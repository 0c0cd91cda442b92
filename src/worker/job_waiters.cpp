#include "worker/job_waiters.hpp"

#include <algorithm>
#include <atomic>

namespace ai::worker {
namespace {

/// A session's entry, at its place in the server's array of processes. One of a session that was
/// ended by force stays until its place is used again; who has it is then woken once too often.
struct Entry {
  std::atomic<Oid> database{InvalidOid};  // InvalidOid: it waits for nothing
  Uuid job;                               // written before the database
};

static_assert(std::atomic<Oid>::is_always_lock_free && std::is_trivially_destructible_v<Entry>);

constexpr const char* kName = "ai job waiters";

shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;
Entry* entries = nullptr;  // MaxBackends of them
bool jobs_ended = false;   // by the current transaction

void RequestMemory() {
  if (next_request_hook != nullptr) {
    next_request_hook();
  }
  RequestAddinShmemSpace(mul_size(sizeof(Entry), MaxBackends));
}

void InitializeMemory() {
  if (next_startup_hook != nullptr) {
    next_startup_hook();
  }
  bool found = false;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  void* memory = ShmemInitStruct(kName, mul_size(sizeof(Entry), MaxBackends), &found);
  entries = static_cast<Entry*>(memory);
  if (!found) {
    std::uninitialized_default_construct_n(entries, MaxBackends);
  }
  LWLockRelease(AddinShmemInitLock);
}

Entry& Mine() {
  return entries[MyProc - ProcGlobal->allProcs];
}

template <typename Wanted>
void WakeIf(const Wanted& wanted) noexcept {
  for (int i = 0; entries != nullptr && i < MaxBackends; ++i) {
    if (entries[i].database.load() == MyDatabaseId && wanted(entries[i].job)) {
      SetLatch(&ProcGlobal->allProcs[i].procLatch);
    }
  }
}

void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  if (event == XACT_EVENT_COMMIT && jobs_ended) {
    WakeAllJobWaiters();
  }
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) {
    jobs_ended = false;
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

void NoteJobsEnded() noexcept {
  jobs_ended = true;
}

JobWaiter::JobWaiter(const Uuid& job) noexcept {
  Mine().job = job;
  Mine().database = MyDatabaseId;
}

JobWaiter::~JobWaiter() {
  Mine().database = InvalidOid;
}

}  // namespace ai::worker
