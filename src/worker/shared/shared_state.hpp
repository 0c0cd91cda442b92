// What launcher, coordinators, workers and sessions know of each other: one struct of fixed size in
// shared memory, for the databases that are served or being looked into.
//
// Plain data, written under one lock. What is also read without it is atomic; whoever does that
// wakes or looks once too often, no worse. A process is known by its place in the server's array of
// processes, whose latches live as long as the server.
#pragma once

#include <atomic>

#include "core/pipeline/event_ring.hpp"
#include "core/policy/vital_signs.hpp"
#include "worker/shared/pool.hpp"
#include "worker/shared/shared_block.hpp"

namespace ai::worker {

inline constexpr int kMaxDatabases = 64;
inline constexpr int kMaxWorkers = 32;    // of a database; the most that ai.workers accepts
inline constexpr int kMaxSlotNotes = 64;  // vectorizers that a worker has requests of at a time
inline constexpr int kMaxSlowOwners = 16;
inline constexpr int kMaxMuted = 64;
inline constexpr int kNobody = -1;

/// The vital signs of a process (core/policy/vital_signs.hpp), written and read without the lock.
/// The steady clock is the machine's, so that one process can tell how long ago another wrote.
struct Life {
  std::atomic<policy::Phase> phase{policy::Phase::kStarting};
  std::atomic<SteadyTime> since{SteadyTime()};
  std::atomic<SteadyTime> turned{SteadyTime()};
  std::atomic<SteadyTime> asked{SteadyTime()};
  std::atomic<SteadyTime> answered{SteadyTime()};
  std::atomic<bool> dismissed{false};  // it is ended because it did not live
};

/// A running process, or nobody.
struct ProcessSlot {
  std::atomic<int> place{kNobody};  // in ProcGlobal->allProcs
  std::atomic<pid_t> pid{0};
  std::atomic<pid_t> last_pid{0};  // it, or that of the last process that was here
  bool ended_well = false;         // the last process that was here ended because it was asked to
  Life life;
};

/// How many requests of a vectorizer a worker keeps for itself; see request_slots.hpp.
struct SlotNote {
  std::int32_t vectorizer = 0;
  std::uint32_t count = 0;
};

struct WorkerSlot {
  ProcessSlot process;
  char lease[37] = "";            // id in ai.vectorizer_worker_process, once it is committed
  std::atomic<bool> busy{false};  // it has something in hand
  SlotNote slot_notes[kMaxSlotNotes];
};

/// An owner of tables whose code was slow lately; see owner_share.hpp.
struct SlowOwner {
  std::atomic<Oid> owner{InvalidOid};
  std::atomic<SteadyTime> until{SteadyTime()};
};

/// A queue that wakes nobody, at a place by its number; see muted_queues.hpp.
struct MutedQueue {
  std::atomic<std::uint64_t> key{0};  // queue, and the catalog_changes that it holds for
  std::atomic<SteadyTime> until{SteadyTime()};
};

/// With more events than these between two turns of a worker, it looks at everything.
using EventRing = pipeline::EventRing<1024>;

static_assert(kMaxWorkers <= 32, "they have a bit each");

enum class Finding : std::uint8_t { kUnknown, kServed, kNoExtension, kDormant };

struct DatabaseSlot {
  std::atomic<Oid> database{InvalidOid};           // InvalidOid: the slot is free
  Finding finding = Finding::kUnknown;             // of the last coordinator
  bool asked = false;                              // a look is wanted, whatever was found before
  std::atomic<int> suspended{0};                   // commands that need the database empty
  std::atomic<std::uint32_t> provider_changes{0};  // commits that changed ai.provider
  std::atomic<std::uint32_t> extension_changes{0};
  std::atomic<std::uint32_t> requests{0};  // commits by which an operator asked for something
  std::atomic<bool> has_crashed{false};    // lately: what workers take must outlive the next crash
  std::atomic<std::uint32_t> deaths{0};    // of workers, with rows that were released
  std::atomic<pid_t> isolating{0};         // the process that works on suspects, of all workers
  std::atomic<SteadyTime> polled_at{SteadyTime()};  // when a worker last began to poll all queues
  EventRing events;                        // what commits have changed; see queue_events.hpp
  std::atomic<std::uint32_t> sleeping{0};  // workers, a bit each, that have to be woken for them
  std::atomic<std::uint32_t> catalog_changes{0};  // commits that have workers look at everything
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
  bool check_all = false;  // a look was wanted and there was no slot to note it in
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

/// Forgets a database unless somebody is in its slot. With the lock.
void ReleaseDatabase(DatabaseSlot& slot) noexcept;

}  // namespace ai::worker
