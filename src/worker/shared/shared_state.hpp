// What launcher, coordinators, workers and sessions know of each other: a fixed-size struct in
// shared memory, for the databases that are served or being checked.
//
// Plain data, written under one lock. Members also read without it are atomic; the worst that such
// a read can cause is one needless wake-up or check. A process is identified by its index in the
// server's PGPROC array, whose latches exist as long as the server.
#pragma once

#include <atomic>

#include "core/pipeline/event_ring.hpp"
#include "core/policy/liveness.hpp"
#include "worker/shared/pool.hpp"
#include "worker/shared/shared_block.hpp"

namespace ai::worker {

inline constexpr int kMaxDatabases = 64;
inline constexpr int kMaxWorkers = 32;    // of a database; the maximum of ai.workers
inline constexpr int kMaxSlotNotes = 64;  // vectorizers of which a worker has requests in flight
inline constexpr int kMaxSlowOwners = 16;
inline constexpr int kMaxMuted = 64;
inline constexpr int kNobody = -1;

/// Liveness of a process (core/policy/liveness.hpp), written and read without the lock. The steady
/// clock is machine-wide, so processes can compare each other's times.
struct ProcessLiveness {
  std::atomic<policy::Phase> phase{policy::Phase::kStarting};
  std::atomic<SteadyTime> since{SteadyTime()};
  std::atomic<SteadyTime> turned{SteadyTime()};
  std::atomic<SteadyTime> pinged{SteadyTime()};
  std::atomic<SteadyTime> replied{SteadyTime()};
  std::atomic<bool> declared_dead{false};  // and therefore terminated
};

/// A running process, or none.
struct ProcessSlot {
  std::atomic<int> proc_number{kNobody};  // in ProcGlobal->allProcs
  std::atomic<pid_t> pid{0};
  std::atomic<pid_t> last_pid{0};  // of the current or the last process in this slot
  bool exited_cleanly = false;     // the last process in this slot exited on request
  ProcessLiveness life;
};

/// How many request slots of a vectorizer a worker has reserved; see request_slots.hpp.
struct SlotNote {
  std::int32_t vectorizer = 0;
  std::uint32_t count = 0;
};

struct WorkerSlot {
  ProcessSlot process;
  char lease[37] = "";            // id in ai.vectorizer_worker_process, once committed
  std::atomic<bool> busy{false};  // it has rows in progress
  SlotNote slot_notes[kMaxSlotNotes];
};

/// A table owner whose code was recently slow; see owner_share.hpp.
struct SlowOwner {
  std::atomic<Oid> owner{InvalidOid};
  std::atomic<SteadyTime> until{SteadyTime()};
};

/// A queue that wakes no worker; the index is a hash of its OID. See muted_queues.hpp.
struct MutedQueue {
  std::atomic<std::uint64_t> key{0};  // queue, and the catalog_changes that it is valid for
  std::atomic<SteadyTime> until{SteadyTime()};
};

/// If there are more events than this between two turns of a worker, it polls all queues.
using EventRing = pipeline::EventRing<1024>;

static_assert(kMaxWorkers <= 32, "each worker has one bit in sleeping");

enum class Finding : std::uint8_t { kUnknown, kServed, kNoExtension, kDormant };

struct DatabaseSlot {
  std::atomic<Oid> database{InvalidOid};           // InvalidOid: the slot is free
  Finding finding = Finding::kUnknown;             // of the last coordinator
  bool check_requested = false;                    // regardless of the last finding
  std::atomic<int> suspended{0};                   // commands that need the database empty
  std::atomic<std::uint32_t> provider_changes{0};  // commits that changed ai.provider
  std::atomic<std::uint32_t> extension_changes{0};
  std::atomic<std::uint32_t> requests{0};     // commits with requests of an administrator
  std::atomic<bool> has_crashed{false};       // recently: claims must survive the next crash
  std::atomic<std::uint32_t> crash_count{0};  // crashed workers whose rows were released
  std::atomic<pid_t> isolating{0};            // the only worker process that may process suspects
  std::atomic<SteadyTime> polled_at{SteadyTime()};  // when a worker last began to poll all queues
  EventRing events;                                 // see queue_events.hpp
  std::atomic<std::uint32_t> sleeping{0};           // workers, one bit each, that have to be woken
  std::atomic<std::uint32_t> catalog_changes{0};    // commits after which workers poll all queues
  MutedQueue muted[kMaxMuted];
  PoolPart pool;
  SlowOwner slow_owners[kMaxSlowOwners];
  ProcessSlot coordinator;
  ProcessSlot indexer;
  ProcessSlot reconciler;
  WorkerSlot workers[kMaxWorkers];
};

struct SharedState {
  ProcessSlot launcher;
  bool check_all = false;  // a check was requested and there was no free slot to record it in
  PoolState pool;
  DatabaseSlot databases[kMaxDatabases];
};

using SharedStateBlock = SharedBlock<SharedState>;
using SharedLock = SharedStateBlock::Lock;

/// Null where the library was not preloaded.
inline SharedState* Shared() noexcept {
  return SharedStateBlock::Get();
}

/// The slot of a database, or null. Needs no lock.
DatabaseSlot* FindDatabase(Oid database) noexcept;

/// The slot of a database, a free one if it has none yet, or null. With the lock.
DatabaseSlot* ReserveDatabase(Oid database) noexcept;

/// Whether none of a database's processes is running. With the lock.
bool IsEmpty(const DatabaseSlot& slot) noexcept;

/// Frees the slot of a database unless it is in use. With the lock.
void ReleaseDatabase(DatabaseSlot& slot) noexcept;

}  // namespace ai::worker
