#include "worker/supervise/pool_keeper.hpp"

#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "pg/transaction.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

/// After this long without a wait, the next one is logged again.
constexpr std::chrono::minutes kBetweenNotices{10};

void Grant(DatabaseSlot& slot, int slots) {
  slot.pool.waits_since = SteadyTime();
  if (slot.pool.granted.exchange(slots) != slots) {
    Wake(slot.coordinator);
  }
}

}  // namespace

bool IsDormant(DatabaseSlot& slot, SteadyTime now) {
  return slot.finding == Finding::kDormant && !slot.check_requested && IsUnchanged(slot) &&
         now < slot.pool.check_at;
}

bool IsUnchanged(DatabaseSlot& slot) {
  return pg::settings.idle_timeout >= 0 && CountEvents(slot) == slot.pool.seen;
}

int SlotsWanted(DatabaseSlot* slot) {
  const bool only_check = slot == nullptr || (IsUnchanged(*slot) && !slot->pool.is_due);
  return 1 + (only_check ? 0 : pg::settings.workers);
}

void PoolKeeper::LogWait(Oid database, SteadyTime now) {
  if (now - waited_at_ > kBetweenNotices) {
    logged_ = false;
  }
  waited_at_ = now;
  if (std::exchange(logged_, true)) {
    return;
  }
  pg::Transaction transaction;
  pg::Call([&] {
    const char* name = get_database_name(database);
    ereport(LOG, errcode(ERRCODE_INSUFFICIENT_RESOURCES),
            errmsg("ai: database \"%s\" waits for a process slot: all %d processes of the pool "
                   "serve other databases",
                   name == nullptr ? "" : name, Shared()->pool.size.load()),
            errhint("Increase ai.max_processes together with max_worker_processes (currently %d), "
                    "or reduce ai.workers.",
                    max_worker_processes));
  });
  transaction.Commit();
}

void PoolKeeper::NoteWait(const Candidate& candidate, SteadyTime now) {
  const bool is_long = now - candidate.claim.since >= kLongWait;
  {
    const SharedLock lock;
    if (DatabaseSlot* slot = FindDatabase(candidate.database); slot != nullptr) {
      slot->pool.waits_since = candidate.claim.since;
      if (is_long) {
        slot->pool.waited_at = now;
      }
    }
  }
  if (is_long) {
    LogWait(candidate.database, now);
  }
}

/// Coordinators of idle databases give up their slots sooner while others wait.
void PoolKeeper::NoteWaiting(int count) {
  waiting_ = count;
  if (Shared()->pool.waiting.exchange(count) == 0 && count > 0) {
    for (const DatabaseSlot& slot : Shared()->databases) {
      Wake(slot.coordinator);
    }
  }
}

std::vector<int> PoolKeeper::Share(std::span<const Candidate> candidates, SteadyTime now) {
  const int size = CurrentPoolSize(now);
  Shared()->pool.size = size;
  std::vector<policy::PoolClaim> claims;
  for (const Candidate& candidate : candidates) {
    claims.push_back(candidate.claim);
  }
  // One slot is the launcher's.
  std::vector<int> shares = policy::ShareSlots(size - 1, claims, now);
  int waiting = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].claim.served) {
      Grant(*FindDatabase(candidates[i].database), shares[i]);
    } else if (shares[i] == 0) {
      NoteWait(candidates[i], now);
      ++waiting;
    }
  }
  NoteWaiting(waiting);
  return shares;
}

}  // namespace ai::worker
