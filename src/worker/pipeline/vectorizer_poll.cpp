#include "worker/pipeline/vectorizer_poll.hpp"

#include <algorithm>
#include <charconv>

#include "pg/column.hpp"
#include "pg/guard.hpp"
#include "pg/queue/queue_notes.hpp"
#include "pg/transaction.hpp"
#include "worker/pipeline/queue_state.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/muted_queues.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

using pipeline::PollRequest;
using pipeline::QueueId;

namespace {

using std::chrono::milliseconds;

/// Vectorizers that are polled in one transaction.
constexpr std::int32_t kSlice = 100;

// Vectorizers that are neither disabled nor being restored; $1 is the component of this worker. The
// version changes with every change of the row, or of the owner.
constexpr std::string_view kVectorizers = R"(
SELECT v.id,
  v.xmin::pg_catalog.text OPERATOR(pg_catalog.||) ' '
    OPERATOR(pg_catalog.||) coalesce(s.relowner::pg_catalog.text, '') AS version,
  s.relowner AS owner,
  v.queue::pg_catalog.oid AS queue, v.work::pg_catalog.oid AS work,
  v.failed::pg_catalog.oid AS failed,
  v.config OPERATOR(pg_catalog.#>>) '{processing,priority}' AS priority,
  (v.config OPERATOR(pg_catalog.#>>) '{processing,priority_column}') IS NOT NULL AS by_priority,
  CASE WHEN p.any THEN ai._pause_left($1, v.id) END AS pause_left_ms,
  CASE WHEN p.any THEN ai._pause_left(NULL, v.id) END AS pause_left_for_all_ms
FROM ai.vectorizer v
LEFT JOIN pg_catalog.pg_class s ON s.oid OPERATOR(pg_catalog.=) v.source,
  (SELECT EXISTS (SELECT FROM ai._worker_pause) OR EXISTS (SELECT FROM ai._vectorizer_pause) AS any
   OFFSET 0) p
WHERE NOT v.disabled AND NOT v.restoring AND )";

constexpr const char* kOfSlice = "v.id OPERATOR(pg_catalog.>) $2 ORDER BY v.id LIMIT $3";

constexpr const char* kOfNames = R"(v.id OPERATOR(pg_catalog.=) ANY (ARRAY(
  SELECT n.id FROM pg_catalog.unnest($2) n (id) UNION
  SELECT q.id FROM ai.vectorizer q
  WHERE q.queue OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.regclass[]))))";

std::string Select(std::string_view which) {
  std::string sql(kVectorizers);
  sql += which;
  return sql;
}

/// An invalid value is reported when the vectorizer is opened.
std::int32_t Number(std::optional<std::string_view> text) {
  std::int32_t number = 0;
  if (text) {
    std::from_chars(text->data(), text->data() + text->size(), number);
  }
  return number;
}

/// A vectorizer that cannot be polled must not hold up the others: claiming reports the error.
QueueState PollGuarded(const QueueRequest& request) {
  try {
    pg::Subtransaction subtransaction;
    const QueueState state = PollQueue(request);
    subtransaction.Commit();
    return state;
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    return {.first_change = pipeline::Tid{}};
  }
}

std::optional<milliseconds> Until(std::optional<TimestampTz> time) {
  return time ? std::optional(RoundedUp(static_cast<double>(*time - GetCurrentTimestamp()) / 1000))
              : std::nullopt;
}

/// Commits to queues from which nothing may be claimed need not wake any worker.
void MuteIdle(const PollRequest& request, const std::map<Oid, std::optional<milliseconds>>& open,
              std::uint32_t catalog_changes) {
  DatabaseSlot* slot = FindDatabase(MyDatabaseId);
  for (const Oid queue : request.events) {
    const auto entry = open.find(queue);
    if (queue == pg::kJobs) {
      continue;
    }
    if (entry == open.end()) {
      Mute(*slot, queue, catalog_changes, milliseconds::max());
    } else if (entry->second) {
      Mute(*slot, queue, catalog_changes, *entry->second);
    }
  }
}

/// Both have 32 bits.
template <typename Id>
Datum Array(Oid type, const std::vector<Id>& ids) {
  const std::vector<Datum> elements(ids.begin(), ids.end());
  return pg::ArrayDatum(type, elements);
}

}  // namespace

VectorizerPoll::VectorizerPoll()
    : slice_(Select(kOfSlice), {TEXTOID, INT4OID, INT8OID}),
      named_(Select(kOfNames), {TEXTOID, INT4ARRAYOID, OIDARRAYOID}),
      set_aside_("SELECT ai._vectorizer_set_aside($1)", {INT4OID}) {}

pg::Rows VectorizerPoll::Find(pg::Spi& spi, const PollRequest& request) {
  const Datum component = pg::TextDatum(MyComponent());
  if (!request.queues) {
    return slice_.Execute(spi, {component, Int32GetDatum(request.after), Int64GetDatum(kSlice)});
  }
  return named_.Execute(
      spi, {component, Array(INT4OID, *request.queues), Array(OIDOID, request.events)});
}

void VectorizerPoll::Run(pg::Spi& spi, const PollRequest& request, pipeline::PollResult& result,
                         QueueTables& tables) {
  const std::uint32_t catalog_changes = FindDatabase(MyDatabaseId)->catalog_changes;
  std::map<Oid, std::optional<milliseconds>> open;
  const pg::Rows rows = Find(spi, request);
  const pg::Int4Column id(rows, "id");
  const pg::TextColumn version(rows, "version"), priority(rows, "priority");
  const pg::OidColumn owner(rows, "owner"), queue(rows, "queue"), work(rows, "work"),
      failed(rows, "failed");
  const pg::BoolColumn by_priority(rows, "by_priority");
  const pg::Float8Column pause_left(rows, "pause_left_ms"),
      pause_left_for_all(rows, "pause_left_for_all_ms");
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    const QueueState state = PollGuarded({.queue = queue[i],
                                          .work = work[i],
                                          .failed = failed[i],
                                          .whole = request.whole,
                                          .suspects = request.suspects,
                                          .by_priority = by_priority[i]});
    if (state.tables == pg::TableState::kGone) {
      set_aside_.Execute(spi, {Int32GetDatum(id[i])});
    }
    const std::int32_t granted = Number(priority.Find(i));
    result.queues.push_back({.id = id[i],
                             .version = std::string(version[i]),
                             .owner = owner.Find(i, InvalidOid),
                             .priority = state.priority.value_or(granted),
                             .granted = granted,
                             .first_change = state.first_change,
                             .whole = state.whole,
                             .locked = state.tables == pg::TableState::kLocked,
                             .retry_in = Until(state.next_retry),
                             .suspect_in = Until(state.next_suspect),
                             .pause_left = RoundedUp(pause_left.Find(i))});
    tables[id[i]] = queue[i];
    open[queue[i]] = RoundedUp(pause_left_for_all.Find(i));
  }
  result.complete = request.queues || rows.count() < kSlice;
  MuteIdle(request, open, catalog_changes);
}

}  // namespace ai::worker
