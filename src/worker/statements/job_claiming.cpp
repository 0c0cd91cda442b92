#include "worker/statements/job_claiming.hpp"

#include "core/text/fill.hpp"
#include "pg/column.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {

using pipeline::LoadedRow;

namespace {

/// Jobs that are loaded at once: the length of a text is only known once it is loaded.
constexpr long kPart = 16;

// In all of these $1 is the role, $2 the configuration.
constexpr const char* kDue = R"(
UPDATE ai.embedding_jobs SET status = 'pending', retry_at = NULL
WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
  SELECT j.ctid FROM ai.embedding_jobs j
  WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2
    AND j.status OPERATOR(pg_catalog.=) 'retrying' AND j.crashes OPERATOR(pg_catalog.=) 0
    AND j.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now()
  ORDER BY j.retry_at LIMIT $3 FOR UPDATE SKIP LOCKED)))";

// $3 the maximum number of jobs, $4 the lease, $5 our version, $6 the time of the oldest vector to
// reuse.
//
// A job whose text is already in progress is skipped: it can reuse that vector later. Claims are
// serialized, so no worker can have claimed it since this statement's snapshot was taken. A job
// whose text has a vector is completed immediately. Jobs that a user has locked, for example to
// cancel them, are skipped on request.
//
// The conditions on j itself detect a job that was cancelled since. They are written so that the
// planner cannot use them as index conditions: j is looked up by its tid. Nested loops keep the
// order.
constexpr const char* kClaim = R"(
WITH next AS MATERIALIZED (
  SELECT j.ctid AS tid, k.* FROM ai.embedding_jobs j
  LEFT JOIN LATERAL (
    SELECT true AS is_at_work FROM ai.embedding_jobs d
    WHERE ai._job_key(d.text_hash, d.config_key, d.created_by) OPERATOR(pg_catalog.=)
        ai._job_key(j.text_hash, $2, $1) AND d.created_by OPERATOR(pg_catalog.=) $1
      AND d.config_key OPERATOR(pg_catalog.=) $2
      AND d.text_hash OPERATOR(pg_catalog.=) j.text_hash
      AND d.status OPERATOR(pg_catalog.=) 'processing' LIMIT 1) w ON true
  LEFT JOIN LATERAL (
    SELECT d.status AS known, d.id, d.embedding_vector, d.embedding_dimensions, d.embedded_at
    FROM ai.embedding_jobs d
    WHERE ai._job_key(d.text_hash, d.config_key, d.created_by) OPERATOR(pg_catalog.=)
        ai._job_key(j.text_hash, $2, $1) AND d.created_by OPERATOR(pg_catalog.=) $1
      AND d.config_key OPERATOR(pg_catalog.=) $2
      AND d.text_hash OPERATOR(pg_catalog.=) j.text_hash
      AND d.status OPERATOR(pg_catalog.=) 'completed'
    ORDER BY d.embedded_at DESC LIMIT 1) k ON k.embedded_at OPERATOR(pg_catalog.>) $6
  WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2
    AND j.status OPERATOR(pg_catalog.=) 'pending' AND w.is_at_work IS NULL
  ORDER BY j.priority DESC, j.created_at LIMIT $3 {lock}),
claimed AS (
  UPDATE ai.embedding_jobs j SET status = coalesce(n.known, 'processing'),
    started_at = pg_catalog.now(), worker_id = $4, worker_version = $5,
    attempts = j.attempts OPERATOR(pg_catalog.+) 1,
    completed_at = CASE WHEN n.id IS NOT NULL THEN pg_catalog.clock_timestamp() END,
    embedding_vector = n.embedding_vector, embedding_dimensions = n.embedding_dimensions,
    embedded_at = n.embedded_at, reused_from = n.id,
    error_message = CASE WHEN n.id IS NULL THEN j.error_message END
  FROM next n WHERE j.ctid OPERATOR(pg_catalog.=) n.tid
    AND (j.status OPERATOR(pg_catalog.=) 'pending') IS TRUE
  RETURNING j.ctid AS tid, j.id, j.status, j.priority, j.notify_channel, j.text_hash, j.input_text)
SELECT c.tid, c.id, pg_catalog.decode(c.text_hash, 'hex') AS hash,
  pg_catalog.octet_length(c.input_text) AS size,
  CASE WHEN pg_catalog.octet_length(c.input_text) OPERATOR(pg_catalog.<=) 2000
    AND c.status OPERATOR(pg_catalog.=) 'processing' THEN c.input_text END AS text,
  c.status OPERATOR(pg_catalog.=) 'completed' AS is_answered,
  CASE WHEN c.status OPERATOR(pg_catalog.=) 'completed' THEN
    ai._embedding_job_tell(c.notify_channel, c.id, c.status) END,
  CASE WHEN c.priority OPERATOR(pg_catalog.=) 'urgent' THEN 200
    WHEN c.priority OPERATOR(pg_catalog.=) 'high' THEN 100
    WHEN c.priority OPERATOR(pg_catalog.=) 'low' THEN -100 ELSE 0 END AS priority
FROM claimed c)";

std::string ClaimText(const char* lock) {
  return text::Fill(kClaim, [&](std::string_view) { return std::string(lock); });
}

constexpr const char* kSuspects = R"(
UPDATE ai.embedding_jobs SET status = 'processing', retry_at = NULL,
  started_at = pg_catalog.now(), worker_id = $5, worker_version = $6,
  attempts = attempts OPERATOR(pg_catalog.+) 1
WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
  SELECT j.ctid FROM ai.embedding_jobs j
  WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2
    AND j.status OPERATOR(pg_catalog.=) 'retrying' AND j.crashes OPERATOR(pg_catalog.>) 0
    AND (j.crashes OPERATOR(pg_catalog.>) 1) OPERATOR(pg_catalog.=) $3
    AND j.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now()
  ORDER BY j.retry_at LIMIT $4 FOR UPDATE SKIP LOCKED))
RETURNING ctid AS tid)";

constexpr const char* kLoad = R"(
SELECT j.* FROM pg_catalog.unnest($3) AS p (tid), LATERAL (
  SELECT j.ctid AS tid, j.id, pg_catalog.decode(j.text_hash, 'hex') AS hash,
    pg_catalog.octet_length(j.input_text) AS size,
    CASE WHEN pg_catalog.octet_length(j.input_text) OPERATOR(pg_catalog.<=) $5
      THEN j.input_text END AS text
  FROM ai.embedding_jobs j WHERE j.ctid OPERATOR(pg_catalog.=) p.tid
    AND j.status OPERATOR(pg_catalog.=) 'processing' AND j.worker_id OPERATOR(pg_catalog.=) $4
    AND j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2
  OFFSET 0) j)";

/// The columns that both results above have in common.
class JobColumns final {
 public:
  explicit JobColumns(const pg::Rows& rows)
      : tid_(rows, "tid"),
        id_(rows, "id"),
        hash_(rows, "hash"),
        size_(rows, "size"),
        text_(rows, "text") {}

  LoadedRow operator[](std::uint64_t row) const {
    LoadedRow job{.tid = tid_[row],
                  .size = static_cast<std::size_t>(size_[row]),
                  .job = id_[row],
                  .hash = hash_.Find(row, {})};
    if (const auto text = text_.Find(row)) {
      job.text = std::string(*text);
    }
    return job;
  }

 private:
  TidColumn tid_;
  UuidColumn id_;
  HashColumn hash_;
  pg::Int4Column size_;
  pg::TextColumn text_;
};

Datum SizeDatum(std::size_t size) {
  return Int64GetDatum(static_cast<std::int64_t>(size));
}

}  // namespace

RequeueDueJobs::RequeueDueJobs() : statement_(kDue, {OIDOID, UUIDOID, INT8OID}) {}

std::size_t RequeueDueJobs::Execute(pg::Spi& spi, const JobGroup& group, std::size_t most) {
  return statement_
      .Execute(spi, {ObjectIdGetDatum(group.role), UuidDatum(group.config), SizeDatum(most)})
      .count();
}

ClaimJobs::ClaimJobs()
    : statement_(ClaimText(""), {OIDOID, UUIDOID, INT8OID, UUIDOID, TEXTOID, TIMESTAMPTZOID}),
      minding_locks_(ClaimText("FOR UPDATE OF j SKIP LOCKED"),
                     {OIDOID, UUIDOID, INT8OID, UUIDOID, TEXTOID, TIMESTAMPTZOID}) {}

ClaimJobs::Result ClaimJobs::Execute(pg::Spi& spi, const JobGroup& group, std::size_t most,
                                     const pg_uuid_t& lease, TimestampTz oldest_vector,
                                     bool mind_locks) {
  const pg::Rows rows =
      (mind_locks ? minding_locks_ : statement_)
          .Execute(spi, {ObjectIdGetDatum(group.role), UuidDatum(group.config), SizeDatum(most),
                         UUIDPGetDatum(&lease), pg::TextDatum(LibraryVersion()),
                         TimestampTzGetDatum(oldest_vector)});
  const JobColumns job(rows);
  const pg::BoolColumn is_answered(rows, "is_answered");
  Result result;
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    LoadedRow claimed = job[i];
    if (is_answered[i]) {
      result.answered.push_back(claimed.job);
    } else {
      result.claimed.push_back(std::move(claimed));
    }
  }
  if (rows.count() > 0) {
    result.lowest_priority = pg::Int4Column(rows, "priority")[rows.count() - 1];
  }
  return result;
}

ClaimSuspectJobs::ClaimSuspectJobs()
    : statement_(kSuspects, {OIDOID, UUIDOID, BOOLOID, INT8OID, UUIDOID, TEXTOID}) {}

std::vector<Tid> ClaimSuspectJobs::Execute(pg::Spi& spi, const JobGroup& group, bool alone,
                                           std::size_t most, const pg_uuid_t& lease) {
  return TidsFrom(statement_.Execute(
      spi, {ObjectIdGetDatum(group.role), UuidDatum(group.config), BoolGetDatum(alone),
            SizeDatum(most), UUIDPGetDatum(&lease), pg::TextDatum(LibraryVersion())}));
}

LoadJobs::LoadJobs() : statement_(kLoad, {OIDOID, UUIDOID, TIDARRAYOID, UUIDOID, INT8OID}) {}

void LoadJobs::Execute(pg::Spi& spi, const JobGroup& group, std::span<const Tid> tids,
                       const pg_uuid_t& lease, std::size_t most_bytes, const Take& take) {
  statement_.Fetch(spi,
                   {ObjectIdGetDatum(group.role), UuidDatum(group.config), TidDatums(tids).Array(),
                    UUIDPGetDatum(&lease), SizeDatum(most_bytes)},
                   kPart, [&](const pg::Rows& rows) {
                     const JobColumns job(rows);
                     bool goes_on = true;
                     for (std::uint64_t i = 0; i < rows.count(); ++i) {
                       goes_on = take(job[i]);
                     }
                     return goes_on;
                   });
}

}  // namespace ai::worker
