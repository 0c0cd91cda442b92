#include "worker/jobs/job_waiters.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "worker/shared/shared_block.hpp"

namespace ai::worker {
namespace {

/// A session's entry, by its index in the PGPROC array. The entry of a session that was killed
/// stays until the index is reused; that session is then woken once needlessly.
struct Entry {
  std::atomic<Oid> database{InvalidOid};  // InvalidOid: not waiting
  Uuid job;                               // written before the database
};

struct Memory {
  std::atomic<int> changing{0};  // transactions, of all databases
  Entry entries[1];              // MaxBackends of them

  Memory() { std::uninitialized_default_construct_n(entries + 1, MaxBackends - 1); }
  static Size Bytes() { return sizeof(Memory) + mul_size(sizeof(Entry), MaxBackends); }
};

static_assert(std::atomic<Oid>::is_always_lock_free);

using Block = SharedBlock<Memory>;

bool changing = false;  // jobs, by the current transaction

Entry& Mine() {
  return Block::Get()->entries[MyProc - ProcGlobal->allProcs];
}

template <typename Wanted>
void WakeIf(const Wanted& wanted) noexcept {
  for (int i = 0; Block::Get() != nullptr && i < MaxBackends; ++i) {
    const Entry& entry = Block::Get()->entries[i];
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
  --Block::Get()->changing;
  if (event == XACT_EVENT_COMMIT) {
    WakeAllJobWaiters();
  }
}

}  // namespace

void InstallJobWaiters() {
  Block::Install("ai job waiters");
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
  if (Block::Get() != nullptr && !std::exchange(changing, true)) {
    ++Block::Get()->changing;
  }
}

bool JobsAreChanging() noexcept {
  return Block::Get()->changing > 0;
}

JobWaiter::JobWaiter(const Uuid& job) noexcept {
  Mine().job = job;
  Mine().database = MyDatabaseId;
}

JobWaiter::~JobWaiter() {
  Mine().database = InvalidOid;
}

}  // namespace ai::worker
