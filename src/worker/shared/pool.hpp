// The pool of background processes that all databases share: what coordinators, launcher and
// sessions exchange about it through shared memory. The launcher decides how many each gets
// (core/policy/worker_pool.hpp); the coordinator of a database, how many it wants and when it is
// idle (roster.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/clock.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

struct DatabaseSlot;

/// Monotonic counters of the events in a database.
struct EventCounts {
  std::uint64_t work = 0;
  std::uint32_t requests = 0;
  std::uint32_t extension_changes = 0;

  bool operator==(const EventCounts&) const = default;
};

/// Later events change the counts: read the tables after this call, not before.
EventCounts CountEvents(DatabaseSlot& slot) noexcept;

/// The state of one database. Members that are not atomic need the lock.
struct PoolPart {
  std::atomic<int> wanted{0};        // processes, including the coordinator; set by the coordinator
  std::atomic<int> granted{0};       // process slots; set by the launcher
  std::atomic<int> workers{0};       // workers it may have now; set by the coordinator
  std::atomic<bool> pinned{false};   // it is building an index or reconciling
  std::atomic<bool> is_idle{false};  // no worker runs: new work has to wake the coordinator
  std::atomic<SteadyTime> waits_since{SteadyTime()};  // for a process slot; unset if it does not
  std::atomic<SteadyTime> waited_at{SteadyTime()};    // when it last waited for long

  // What the last coordinator left when it exited for lack of work.
  EventCounts seen;
  SteadyTime check_at{};  // when to check again, even without an event
  bool is_due = false;    // work is due then
  bool by_timer = false;  // this coordinator was started for such a check

  // What the next coordinator need not do or log again.
  bool version_logged = false;
  bool unlogged_checked = false;
  std::int64_t orphans_logged = 0;

  void Reset() noexcept;
};

/// The state of the whole server.
struct PoolState {
  std::atomic<int> size{0};                          // launcher included
  std::atomic<int> waiting{0};                       // databases that wait for a process slot
  std::atomic<SteadyTime> refused_at{SteadyTime()};  // there was no free background worker slot
  std::atomic<SteadyTime> refusal_logged_at{SteadyTime()};
};

/// Waits of this length are reported.
inline constexpr std::chrono::seconds kLongWait{2};

/// How many processes a database has.
int CountProcesses(const DatabaseSlot& slot) noexcept;

/// The current size of the pool: as configured, or what we have if the server recently refused
/// more.
int CurrentPoolSize(SteadyTime now);

/// The pool as seen by one database.
struct PoolFigures {
  int size = 0;
  int processes = 0;
  int waiting_databases = 0;
  const char* state = "";  // of the database
  int workers = 0;         // that the database may have
  bool refused = false;    // there was recently no free background worker slot
  bool waited = false;     // the database recently waited for a process slot
};

/// Nothing where no database is served.
std::optional<PoolFigures> DescribePool(Oid database);

/// Call when work was added: wakes coordinator and launcher if no worker runs. Takes no lock.
void WakeForWork(DatabaseSlot& slot) noexcept;

/// Records that there was no free background worker slot, and logs it from time to time.
void NoteRefusal(const char* title, SteadyTime now);

}  // namespace ai::worker
