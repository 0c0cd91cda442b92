#include "worker/statements/job_ending.hpp"

#include "pg/column.hpp"

namespace ai::worker {
namespace {

// A suspect stays isolated from the others.
constexpr const char* kRelease = R"(
UPDATE ai.embedding_jobs j SET attempts = j.attempts OPERATOR(pg_catalog.-) 1, started_at = NULL,
  status = CASE WHEN $3 OPERATOR(pg_catalog.>) interval '0'
    OR j.crashes OPERATOR(pg_catalog.>) 0 THEN 'retrying'::ai.job_status ELSE 'pending' END,
  retry_at = CASE WHEN $3 OPERATOR(pg_catalog.>) interval '0'
    OR j.crashes OPERATOR(pg_catalog.>) 0 THEN pg_catalog.now() OPERATOR(pg_catalog.+) $3 END
WHERE j.id OPERATOR(pg_catalog.=) ANY (ARRAY(
  SELECT k.id FROM ai.embedding_jobs k WHERE k.id OPERATOR(pg_catalog.=) ANY ($1)
    AND k.status OPERATOR(pg_catalog.=) 'processing' AND k.worker_id OPERATOR(pg_catalog.=) $2
  FOR UPDATE SKIP LOCKED))
RETURNING j.id)";

constexpr const char* kReleaseAll = R"(
UPDATE ai.embedding_jobs j SET attempts = j.attempts OPERATOR(pg_catalog.-) 1, started_at = NULL,
  status = CASE WHEN j.crashes OPERATOR(pg_catalog.>) 0
    THEN 'retrying'::ai.job_status ELSE 'pending' END,
  retry_at = CASE WHEN j.crashes OPERATOR(pg_catalog.>) 0 THEN pg_catalog.now() END
WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2
  AND j.status OPERATOR(pg_catalog.=) 'processing' AND j.worker_id OPERATOR(pg_catalog.=) $3)";

constexpr const char* kFail = R"(
WITH held AS MATERIALIZED (
  SELECT k.id, $7 OR k.attempts OPERATOR(pg_catalog.>=) k.max_attempts AS over
  FROM ai.embedding_jobs k WHERE k.id OPERATOR(pg_catalog.=) ANY ($1)
    AND k.status OPERATOR(pg_catalog.=) 'processing' AND k.worker_id OPERATOR(pg_catalog.=) $2
  FOR UPDATE SKIP LOCKED),
ended AS (
  UPDATE ai.embedding_jobs j SET error_message = $4,
    status = CASE WHEN h.over THEN 'failed'::ai.job_status ELSE 'retrying' END,
    completed_at = CASE WHEN h.over THEN pg_catalog.now() END,
    processing_time_ms = pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()
      OPERATOR(pg_catalog.-) j.started_at) OPERATOR(pg_catalog.*) 1000,
    retry_at = CASE WHEN NOT h.over THEN pg_catalog.now() OPERATOR(pg_catalog.+)
      least($3 OPERATOR(pg_catalog.*) pg_catalog.power(2,
        least(j.attempts OPERATOR(pg_catalog.-) 1, 20)), interval '5 minutes') END
  FROM held h WHERE j.id OPERATOR(pg_catalog.=) h.id RETURNING j.*),
letters AS (
  INSERT INTO ai.embedding_job_failures
  SELECT e.id, e.embedding_model, e.text_hash, $5, $6, $4, e.attempts, e.worker_id, e.created_by,
    pg_catalog.now()
  FROM ended e WHERE e.status OPERATOR(pg_catalog.=) 'failed'
  ON CONFLICT (job_id) DO UPDATE SET step = excluded.step, class = excluded.class,
    error_message = excluded.error_message, attempts = excluded.attempts,
    worker_id = excluded.worker_id, failed_at = pg_catalog.now())
SELECT e.id, e.status OPERATOR(pg_catalog.=) 'failed' AS is_dead_letter,
  CASE WHEN e.status OPERATOR(pg_catalog.=) 'failed' THEN
    ai._embedding_job_tell(e.notify_channel, e.id, e.status) END
FROM ended e)";

constexpr const char* kHeld = R"(
SELECT id FROM ai.embedding_jobs WHERE id OPERATOR(pg_catalog.=) ANY ($1)
  AND status OPERATOR(pg_catalog.=) 'processing' AND worker_id OPERATOR(pg_catalog.=) $2)";

constexpr const char* kNote = R"(
UPDATE ai.embedding_jobs SET error_message = $3
WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
  SELECT j.ctid FROM ai.embedding_jobs j WHERE j.created_by OPERATOR(pg_catalog.=) $1
    AND j.config_key OPERATOR(pg_catalog.=) $2 AND j.status OPERATOR(pg_catalog.=) 'pending'
  ORDER BY j.priority DESC, j.created_at LIMIT 100 FOR UPDATE SKIP LOCKED)))";

}  // namespace

ReleaseJobs::ReleaseJobs() : statement_(kRelease, {UUIDARRAYOID, UUIDOID, INTERVALOID}) {}

std::vector<Uuid> ReleaseJobs::Execute(pg::Spi& spi, std::span<const Uuid> jobs,
                                       const pg_uuid_t& lease, std::chrono::milliseconds delay) {
  return IdsFrom(
      statement_.Execute(spi, {UuidsDatum(jobs), UUIDPGetDatum(&lease), pg::IntervalDatum(delay)}));
}

ReleaseAllJobs::ReleaseAllJobs() : statement_(kReleaseAll, {OIDOID, UUIDOID, UUIDOID}) {}

void ReleaseAllJobs::Execute(pg::Spi& spi, const JobGroup& group, const pg_uuid_t& lease) {
  statement_.Execute(
      spi, {ObjectIdGetDatum(group.role), UuidDatum(group.config), UUIDPGetDatum(&lease)});
}

FailJobs::FailJobs()
    : statement_(kFail, {UUIDARRAYOID, UUIDOID, INTERVALOID, TEXTOID, TEXTOID, TEXTOID, BOOLOID}) {}

FailJobs::Result FailJobs::Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease,
                                   std::chrono::milliseconds delay, std::string_view step,
                                   const Failure& failure, bool final) {
  const pg::Rows rows =
      statement_.Execute(spi, {UuidsDatum(jobs), UUIDPGetDatum(&lease), pg::IntervalDatum(delay),
                               pg::MessageDatum(failure.message), pg::TextDatum(step),
                               pg::TextDatum(Name(failure.failure_class)), BoolGetDatum(final)});
  const pg::BoolColumn is_dead_letter(rows, "is_dead_letter");
  Result result{.ended = IdsFrom(rows)};
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    if (is_dead_letter[i]) {
      result.dead_letters.push_back(result.ended[i]);
    }
  }
  return result;
}

FindHeldJobs::FindHeldJobs() : statement_(kHeld, {UUIDARRAYOID, UUIDOID}) {}

std::vector<Uuid> FindHeldJobs::Execute(pg::Spi& spi, std::span<const Uuid> jobs,
                                        const pg_uuid_t& lease) {
  return IdsFrom(statement_.Execute(spi, {UuidsDatum(jobs), UUIDPGetDatum(&lease)}));
}

NoteOnJobs::NoteOnJobs() : statement_(kNote, {OIDOID, UUIDOID, TEXTOID}) {}

void NoteOnJobs::Execute(pg::Spi& spi, const JobGroup& group, const Failure& failure) {
  statement_.Execute(spi, {ObjectIdGetDatum(group.role), UuidDatum(group.config),
                           pg::MessageDatum(failure.message)});
}

}  // namespace ai::worker
