// All statements of a vectorizer look rows up one by one, by tid or by key, from the first table to
// the last. A plan is made once, often while the tables are empty and sequential scans look cheap;
// the subqueries with OFFSET 0 force the join order.
#include "worker/statements/claiming.hpp"

#include "pg/column.hpp"

namespace ai::worker {
namespace {

Datum SizeDatum(std::size_t size) {
  return Int64GetDatum(static_cast<std::int64_t>(size));
}

// $1 and $2 are tids of the queue, $3 is the maximum number of entries to read, $4 the lease. A row
// that waited for a retry has changed since: its attempts start over; but a suspect is still
// isolated first. Claims are serialized, and nothing else inserts into the work table or deletes
// waiting rows from it.
constexpr const char* kChanges = R"(
WITH seen AS MATERIALIZED (
  SELECT q.*, w._tid, w._held
  FROM (SELECT q.ctid AS _entry, {key of q}, q.queued_at, q.priority FROM {queue} q {range}) q
  LEFT JOIN LATERAL (
    SELECT w.ctid AS _tid, w.lease IS NOT NULL OR w.crashes OPERATOR(pg_catalog.>) 0 AS _held
    FROM {work} w WHERE {w matches q} OFFSET 0) w ON true {order}),
gone AS (
  DELETE FROM {queue} q WHERE q.ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
    SELECT n._entry FROM seen n WHERE n._held IS NOT TRUE))),
again AS (
  UPDATE {work} w SET lease = $4, taken_at = pg_catalog.now(), attempts = 0, retry_at = NULL,
    error = NULL
  WHERE w.ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT n._tid FROM seen n WHERE NOT n._held))
  RETURNING w.ctid AS tid),
new AS (
  INSERT INTO {work} AS w ({key}, queued_at, priority, lease, taken_at)
  SELECT {key of n}, pg_catalog.min(n.queued_at), pg_catalog.max(n.priority), $4, pg_catalog.now()
  FROM seen n WHERE n._held IS NULL GROUP BY {key of n}
  RETURNING w.ctid AS tid)
SELECT
  (SELECT pg_catalog.array_agg(c.tid)
   FROM (SELECT tid FROM again UNION ALL SELECT tid FROM new) c) AS claimed,
  (SELECT pg_catalog.count(*) FROM seen) AS seen,
  (SELECT pg_catalog.max(n._entry) FROM seen n) AS last,
  (SELECT pg_catalog.min(n.priority)::pg_catalog.int4 FROM seen n) AS lowest_priority,
  (SELECT pg_catalog.min(n._entry) FROM seen n WHERE n._held) AS first_held)";

constexpr const char* kInRange =
    "WHERE q.ctid OPERATOR(pg_catalog.>=) $1 AND q.ctid OPERATOR(pg_catalog.<) $2 LIMIT $3";

// With priorities, entries are claimed in the order of the queue's index, wherever they are; those
// of rows that workers hold are skipped immediately.
constexpr const char* kByPriority =
    "WHERE w._held IS NOT TRUE ORDER BY q.priority DESC, q.queued_at LIMIT $3";

constexpr const char* kRetries = R"(
WITH claimed AS (
  UPDATE {work} SET lease = $2, taken_at = pg_catalog.now()
  WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
    SELECT w.ctid FROM {work} w
    WHERE w.lease IS NULL AND w.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now()
      AND w.crashes OPERATOR(pg_catalog.=) 0
    ORDER BY w.retry_at LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING ctid AS tid, retry_at)
SELECT c.tid FROM claimed c ORDER BY c.retry_at)";

constexpr const char* kSuspects = R"(
UPDATE {work} SET lease = $3, taken_at = pg_catalog.now()
WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
  SELECT w.ctid FROM {work} w
  WHERE w.lease IS NULL AND w.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now()
    AND w.crashes OPERATOR(pg_catalog.>) 0
    AND (w.crashes OPERATOR(pg_catalog.>) 1) OPERATOR(pg_catalog.=) $1
  ORDER BY w.retry_at LIMIT $2 FOR UPDATE SKIP LOCKED))
RETURNING ctid AS tid)";

}  // namespace

ClaimChanges::ClaimChanges(const StatementTexts& texts)
    : statement_(texts.Fill(kChanges, {{"range", texts.names.by_priority ? "" : kInRange},
                                       {"order", texts.names.by_priority ? kByPriority : ""}}),
                 {TIDOID, TIDOID, INT8OID, UUIDOID}) {}

ClaimChanges::Result ClaimChanges::Execute(pg::Spi& spi, const Range& range, std::size_t most,
                                           const pg_uuid_t& lease) {
  const Tid tids[] = {range.begin, range.end};
  const TidDatums datums(tids);
  const pg::Rows rows =
      statement_.Execute(spi, {datums.At(0), datums.At(1), SizeDatum(most), UUIDPGetDatum(&lease)});
  return {.claimed = TidArrayColumn(rows, "claimed").Find(0, {}),
          .seen = static_cast<std::size_t>(pg::Int8Column(rows, "seen")[0]),
          .last = TidColumn(rows, "last").Find(0, {}),
          .lowest_priority = pg::Int4Column(rows, "lowest_priority").Find(0),
          .first_held = TidColumn(rows, "first_held").Find(0)};
}

ClaimRetries::ClaimRetries(const StatementTexts& texts)
    : statement_(texts.Fill(kRetries), {INT8OID, UUIDOID}) {}

std::vector<Tid> ClaimRetries::Execute(pg::Spi& spi, std::size_t most, const pg_uuid_t& lease) {
  return TidsFrom(statement_.Execute(spi, {SizeDatum(most), UUIDPGetDatum(&lease)}));
}

ClaimSuspects::ClaimSuspects(const StatementTexts& texts)
    : statement_(texts.Fill(kSuspects), {BOOLOID, INT8OID, UUIDOID}) {}

std::vector<Tid> ClaimSuspects::Execute(pg::Spi& spi, bool alone, std::size_t most,
                                        const pg_uuid_t& lease) {
  return TidsFrom(
      statement_.Execute(spi, {BoolGetDatum(alone), SizeDatum(most), UUIDPGetDatum(&lease)}));
}

}  // namespace ai::worker
