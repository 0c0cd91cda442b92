// What a worker knows about one vectorizer, or about the jobs of one group, and has in hand for it.
#pragma once

#include <deque>

#include "core/clock.hpp"
#include "core/policy/blame.hpp"
#include "core/policy/fair_share.hpp"
#include "core/policy/store_budget.hpp"
#include "worker/gate.hpp"
#include "worker/source.hpp"

namespace ai::worker {

/// How far a worker has walked through a queue. The queue has no order but that of its pages: a
/// worker walks from the first change to what was the end when the walk began, then begins again.
/// What is added behind that end, or on pages that were emptied, comes with the next walk after a
/// look at the whole queue, so nothing starves.
struct Walk {
  Place next = {};
  BlockNumber end = 0;
  bool under_way = false;
  bool found = false;  // something was there in this walk
};

/// What will be added to the counters of the database; see Flow::CountUsage.
struct Usage {
  std::int64_t rows = 0;  // stored, or jobs
  std::int64_t requests = 0;
  std::int64_t input_tokens = 0;
  std::int64_t sent_chunks = 0;
  std::int64_t reused_chunks = 0;
  std::int64_t truncated_chunks = 0;

  bool operator==(const Usage&) const = default;
};

/// Where requests go, and whether they may.
struct Route {
  provider::Endpoint endpoint;
  Gate* gate;
  policy::RoleId role = 0;  // whose requests these are
  SteadyTime found = {};

  std::optional<std::chrono::milliseconds> Closed() const { return gate->Closed(role); }
  std::optional<Ticket> Admit() const { return gate->Admit(role); }
};

/// A row that could not be written, even alone, for a reason that may be its own or the table's.
struct Doubt {
  RowPtr row;
  Failure failure;
  bool of_server;               // the disk may be full since
  std::uint64_t stores_before;  // of the lane
};

struct Lane {
  std::int32_t id = 0;           // of the vectorizer; below 0 for jobs, and known here only
  std::optional<JobGroup> jobs;  // whose these are
  std::string version;           // of the catalog row that the vectorizer was made from
  Oid owner = InvalidOid;        // of the source, or of the jobs: whose share of the work it has
  std::int32_t priority = 0;     // of the first of its rows
  std::int32_t granted = 0;      // the same without what rows say of themselves
  std::unique_ptr<Source> vectorizer;      // null until it is needed, or if it cannot be used
  bool changes = false;                    // the queue may have something
  std::optional<SteadyTime> next_retry;    // when a row is to be tried again
  std::optional<SteadyTime> next_suspect;  // the same for rows that a process has died with
  SteadyTime rests_until = {};             // it is set aside until then
  int rests = 0;                           // since rows were last stored
  SteadyTime paused_until = {};            // nothing is taken until then
  bool owes_rows = false;                  // some could not be given back when it let go of them
  SteadyTime store_after = {};             // somebody has locked a table that is written
  int locks_met = 0;                       // since rows were last stored
  SteadyTime stored_at = {};
  std::uint64_t stores = 0;  // that went well
  policy::StoreBudget store_budget;
  std::string last_error;   // that was recorded, so that it is not again
  TimestampTz opening = 0;  // of a breaker, that was recorded
  Walk walk;
  BlockNumber walk_from = 0;  // where the next one begins

  Oid work_file = InvalidOid;     // of the table of work: places are good as long as it is
  std::vector<Place> unread;      // taken, not yet read
  std::vector<Uuid> strays;       // jobs that somebody had locked when this worker let go of them
  SteadyTime retries_after = {};  // somebody has locked those that are due, or strays
  std::deque<Item> unsent;
  std::vector<RowPtr> ready;              // to be written
  std::vector<RowPtr> locked;             // somebody else has; to be written
  SteadyTime locked_until = {};           // when these are tried again
  std::vector<Doubt> in_doubt;            // could not be written; whose fault it is, others tell
  std::vector<RowPtr> held;               // all rows that are in hand, until they are over
  std::size_t held_bytes = 0;             // by these
  std::optional<Route> route;             // of unsent items
  std::optional<std::size_t> most_items;  // of a request, as replies that were too large tell
  std::size_t slots = 0;      // requests that it may have under way, of all the database's workers
  std::size_t in_flight = 0;  // requests
  std::size_t delayed = 0;    // requests that wait to be sent again
  Usage usage;
  std::string usage_model;       // that it is of
  SteadyTime count_after = {};   // it is not written before
  policy::FailingSince failing;  // its requests, all of them

  policy::Contender contender() const { return {owner, id, priority, granted}; }

  /// Whether rows are in hand that have not been tried to be written.
  bool has_untried() const {
    return !unread.empty() || !unsent.empty() || !ready.empty() || !locked.empty() ||
           in_flight > 0 || delayed > 0;
  }
  bool idle() const { return !has_untried() && in_doubt.empty(); }
};

}  // namespace ai::worker
