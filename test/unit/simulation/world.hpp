// What the simulated workers share: tables, providers, time. A database without PostgreSQL, whose
// steps are transactions because nothing else runs meanwhile, and which knows what is true: which
// text each row has, and which failures are whose fault.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/pipeline/pipeline.hpp"
#include "core/policy/endpoint_state.hpp"
#include "unit/fakes/fake_random.hpp"
#include "unit/fakes/manual_clock.hpp"

namespace ai::simulation {

using pipeline::OwnerId;
using pipeline::QueueId;
using pipeline::Tid;
using std::chrono::milliseconds;

using Key = std::uint32_t;
using WorkerId = std::uint32_t;  // a lease; 0: nobody

/// A broken promise of the pipeline. What happened before is in the history.
struct Violation final : std::exception {
  explicit Violation(std::string what) : text(std::move(what)) {}
  const char* what() const noexcept override { return text.c_str(); }
  std::string text;
};

/// What is wrong with a row, for good.
enum class Poison : std::uint8_t {
  kNone,
  kRefused,    // the provider does not take its text (400)
  kFails,      // the provider fails by it (500)
  kGarbage,    // the reply to it is none
  kBadValue,   // a constraint of the target refuses it
  kBadCode,    // a trigger fails by it, with whatever SQLSTATE
  kUncutable,  // it cannot be cut into chunks
  kKiller,     // a worker dies when it loads it
};

struct SourceRow {
  int version = 1;
  Poison poison = Poison::kNone;
  std::size_t bytes = 10;
  milliseconds changed_at{0};  // when it last was, in the time of the simulation
};

struct WorkRow {
  Tid tid = {};
  WorkerId lease = 0;
  int attempts = 0;
  int crashes = 0;
  SteadyTime retry_at = {};
  SteadyTime claimed_at = {};
};

/// What the target has of a row.
struct TargetRow {
  int version = 0;
};

struct Entry {
  Key key = 0;
  std::uint64_t number = 0;
};

struct SimQueue {
  QueueId id = 0;
  OwnerId owner = 1;
  int priority = 0;
  int definition = 1;  // changes with the configuration
  int provider = 0;
  bool local = false;  // embedded model
  std::size_t batch_size = 4;
  std::size_t concurrency = 8;
  bool dropped = false;
  bool disabled = false;
  SteadyTime paused_until = {};
  SteadyTime locked_until = {};  // tables, by a user
  SteadyTime broken_until = {};  // nothing can be stored
  SteadyTime broken_since = {};
  std::map<Key, SteadyTime> locked_rows;
  std::map<Key, SourceRow> source;
  std::map<Key, int> versions;  // the last of each, also of rows that are deleted
  std::vector<Entry> entries;
  std::map<Key, WorkRow> work;
  std::map<Key, TargetRow> target;
  std::map<Key, std::string> dead_letters;
  std::map<WorkerId, std::size_t> kept = {};  // requests
};

/// How a provider behaves for a while.
enum class Mood : std::uint8_t {
  kWell,
  kDown,  // 500 for everybody
  kUnreachable,
  kHangs,
  kRefuses,    // 429, with or without a time
  kFlaky,      // any of the others, now and then
  kGarbage,    // no JSON
  kShort,      // a vector is missing
  kNotFinite,  // NaN among the values
  kNoKey,      // 401
  kSlow,
};
inline constexpr int kMoods = 11;

struct SimProvider {
  Mood mood = Mood::kWell;
  SteadyTime until = {};
  SteadyTime since = {};
  policy::EndpointState endpoint = {};
};

/// How often each fault came, and what was done.
using Counts = std::map<std::string, std::uint64_t>;

struct World {
  explicit World(std::uint64_t seed) : random(seed) {}

  test::ManualClock clock;
  test::SeededRandom random;
  std::deque<SimQueue> queues;  // references to them stay good
  std::vector<SimProvider> providers;
  std::uint64_t next_number = 1;
  std::uint16_t next_offset = 1;
  std::vector<Tid> free_tids;  // of rows that are gone; others come there
  std::uint32_t crash_count = 0;
  WorkerId isolating = 0;
  bool calm = false;  // no more faults: all has to be done in the end
  SteadyTime last_full_poll = {};
  std::set<OwnerId> slow_owners;
  std::set<std::uint32_t> events;  // of queues, for all workers
  Counts counts;
  std::vector<std::string> history;

  SteadyTime now() const { return clock.Now(); }
  milliseconds time() const;
  bool Chance(double probability) { return random.Uniform() < probability; }
  /// The same for a fault, which is counted; none comes in the calm at the end.
  bool Fault(const char* name, double probability);
  void Note(std::string what);
  void Count(const char* name) { ++counts[name]; }

  SimQueue* Find(QueueId id);
  /// A user's transaction.
  void Change(SimQueue& queue, Key key, Poison poison, std::size_t bytes);
  void Delete(SimQueue& queue, Key key);
  void AddEntry(SimQueue& queue, Key key) { queue.entries.push_back({key, next_number++}); }

  Tid NewTid();
  void EraseWork(SimQueue& queue, Key key);

  /// What the supervisor does for a worker that is gone, or does not beat: an attempt is charged.
  void Reclaim(WorkerId lease, bool died);

  /// What is not done yet, in words; empty if all is.
  std::string Unfinished() const;
  /// Whether a row may wait in the end, though all is well.
  bool MayWait(const SimQueue& queue, Key key) const;
};

/// A text that says whose it is, and the vector for it.
std::string TextOf(QueueId queue, Key key, int version);

inline constexpr int kMaxAttempts = 6;
inline constexpr std::size_t kDimensions = 3;

}  // namespace ai::simulation
