// The pool of background processes that all databases share: what coordinators, launcher and
// sessions tell each other about it in shared memory. Who gets how many is decided by
// core/policy/worker_pool.hpp, in the launcher; how many a database wants, and when it rests, by
// its coordinator (roster.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/clock.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

struct DatabaseSlot;

/// What has happened in a database, in numbers that only grow.
struct EventCounts {
  std::uint64_t work = 0;
  std::uint32_t requests = 0;
  std::uint32_t extension_changes = 0;

  bool operator==(const EventCounts&) const = default;
};

/// What happens after that makes another number: look at the tables afterwards, not before.
EventCounts CountEvents(DatabaseSlot& slot) noexcept;

/// The part of one database. What is not atomic needs the lock.
struct PoolPart {
  std::atomic<int> wanted{0};        // processes, coordinator included; by the coordinator
  std::atomic<int> granted{0};       // by the launcher
  std::atomic<int> workers{0};       // that it may have now; by the coordinator
  std::atomic<bool> pinned{false};   // it builds or reconciles something
  std::atomic<bool> is_idle{false};  // nobody is there for work: who brings some calls for it
  std::atomic<SteadyTime> waits_since{SteadyTime()};  // for its turn; not at all if that is none
  std::atomic<SteadyTime> waited_at{SteadyTime()};    // for long, the last time

  // What the last coordinator left when it ended for want of work.
  EventCounts seen;
  SteadyTime check_at{};      // when somebody has to look again, whatever happens
  bool is_due = false;        // there is work then
  bool by_the_clock = false;  // this coordinator was started for such a look

  // What the next coordinator need not do or say again.
  bool version_said = false;
  bool unlogged_seen_to = false;
  std::int64_t orphans_said = 0;

  void Reset() noexcept;
};

/// The part of the server.
struct PoolState {
  std::atomic<int> size{0};                          // launcher included
  std::atomic<int> waiting{0};                       // databases that wait for their turn
  std::atomic<SteadyTime> refused_at{SteadyTime()};  // the server had no place for a process
  std::atomic<SteadyTime> refusal_said_at{SteadyTime()};
};

/// A wait that is worth telling of.
inline constexpr std::chrono::seconds kLongWait{2};

/// How many processes a database has.
int CountProcesses(const DatabaseSlot& slot) noexcept;

/// The size of the pool now: what is set, or what we have if the server has lately refused more.
int CurrentPoolSize(SteadyTime now);

/// What a database and the server have of the pool.
struct PoolFigures {
  int size = 0;
  int processes = 0;
  int waiting_databases = 0;
  const char* state = "";  // of the database
  int workers = 0;         // that it may have
  bool refused = false;    // lately the server had no place for a process
  bool waited = false;     // lately the database waited for its turn
};

/// None where nothing is served.
std::optional<PoolFigures> DescribePool(Oid database);

/// For one whose work has just come: has its coordinator and the launcher look, if nobody is there
/// for work. Takes no lock.
void CallForWork(DatabaseSlot& slot) noexcept;

/// The server had no place for a process. Said now and then.
void NoteRefusal(const char* title, SteadyTime now);

}  // namespace ai::worker
