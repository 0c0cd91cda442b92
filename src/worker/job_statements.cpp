#include "worker/job_statements.hpp"

namespace ai::worker {
namespace {

constexpr const char* kDue =
    "UPDATE ai.embedding_jobs SET status = 'pending', retry_at = NULL "
    "WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT j.ctid FROM ai.embedding_jobs j "
    "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
    "AND j.status OPERATOR(pg_catalog.=) 'retrying' AND j.crashes OPERATOR(pg_catalog.=) 0 "
    "AND j.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now() "
    "ORDER BY j.retry_at LIMIT $3 FOR UPDATE SKIP LOCKED))";

constexpr const char* kSuspects =
    "UPDATE ai.embedding_jobs SET status = 'processing', retry_at = NULL, "
    "started_at = pg_catalog.now(), worker_id = $5, worker_version = $6, "
    "attempts = attempts OPERATOR(pg_catalog.+) 1 "
    "WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT j.ctid FROM ai.embedding_jobs j "
    "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
    "AND j.status OPERATOR(pg_catalog.=) 'retrying' AND j.crashes OPERATOR(pg_catalog.>) 0 "
    "AND (j.crashes OPERATOR(pg_catalog.>) 1) OPERATOR(pg_catalog.=) $3 "
    "AND j.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now() "
    "ORDER BY j.retry_at LIMIT $4 FOR UPDATE SKIP LOCKED)) RETURNING ctid";

// A text that is at work already is passed over: it has its vector when that is done. Claims come
// one by one, so nobody can have begun with it since this statement's snapshot was taken. One that
// was done is answered at once. Jobs that a user has just locked, to cancel them for one, are
// passed over here and below.
//
// One that was cancelled since is seen by what is asked of j itself. That is asked in a way that is
// no condition of an index for the planner: the way to j is its place. Nested loops keep the order.
constexpr const char* kClaim =
    "WITH next AS MATERIALIZED (SELECT j.ctid AS place, k.* FROM ai.embedding_jobs j "
    "LEFT JOIN LATERAL (SELECT true AS is_at_work FROM ai.embedding_jobs d "
    "WHERE ai._job_key(d.text_hash, d.config_key, d.created_by) OPERATOR(pg_catalog.=) "
    "ai._job_key(j.text_hash, $2, $1) AND d.created_by OPERATOR(pg_catalog.=) $1 "
    "AND d.config_key OPERATOR(pg_catalog.=) $2 "
    "AND d.text_hash OPERATOR(pg_catalog.=) j.text_hash "
    "AND d.status OPERATOR(pg_catalog.=) 'processing' LIMIT 1) w ON true "
    "LEFT JOIN LATERAL (SELECT d.status AS known, d.id, d.embedding_vector, "
    "d.embedding_dimensions, d.embedded_at FROM ai.embedding_jobs d "
    "WHERE ai._job_key(d.text_hash, d.config_key, d.created_by) OPERATOR(pg_catalog.=) "
    "ai._job_key(j.text_hash, $2, $1) AND d.created_by OPERATOR(pg_catalog.=) $1 "
    "AND d.config_key OPERATOR(pg_catalog.=) $2 "
    "AND d.text_hash OPERATOR(pg_catalog.=) j.text_hash "
    "AND d.status OPERATOR(pg_catalog.=) 'completed' "
    "ORDER BY d.embedded_at DESC LIMIT 1) k ON k.embedded_at OPERATOR(pg_catalog.>) $6 "
    "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
    "AND j.status OPERATOR(pg_catalog.=) 'pending' AND w.is_at_work IS NULL "
    "ORDER BY j.priority DESC, j.created_at LIMIT $3 %s), "
    "taken AS (UPDATE ai.embedding_jobs j SET status = coalesce(n.known, 'processing'), "
    "started_at = pg_catalog.now(), worker_id = $4, worker_version = $5, "
    "attempts = j.attempts OPERATOR(pg_catalog.+) 1, "
    "completed_at = CASE WHEN n.id IS NOT NULL THEN pg_catalog.clock_timestamp() END, "
    "embedding_vector = n.embedding_vector, embedding_dimensions = n.embedding_dimensions, "
    "embedded_at = n.embedded_at, reused_from = n.id, "
    "error_message = CASE WHEN n.id IS NULL THEN j.error_message END "
    "FROM next n WHERE j.ctid OPERATOR(pg_catalog.=) n.place "
    "AND (j.status OPERATOR(pg_catalog.=) 'pending') IS TRUE "
    "RETURNING j.ctid AS place, j.id, j.status, j.priority, j.notify_channel, j.text_hash, "
    "j.input_text) "
    "SELECT t.place, t.id, pg_catalog.decode(t.text_hash, 'hex'), "
    "pg_catalog.octet_length(t.input_text), "
    "CASE WHEN pg_catalog.octet_length(t.input_text) OPERATOR(pg_catalog.<=) 2000 "
    "AND t.status OPERATOR(pg_catalog.=) 'processing' THEN t.input_text END, "
    "t.status OPERATOR(pg_catalog.=) 'completed', "
    "CASE WHEN t.status OPERATOR(pg_catalog.=) 'completed' THEN "
    "ai._embedding_job_tell(t.notify_channel, t.id, t.status) END, "
    "CASE WHEN t.priority OPERATOR(pg_catalog.=) 'urgent' THEN 200 "
    "WHEN t.priority OPERATOR(pg_catalog.=) 'high' THEN 100 "
    "WHEN t.priority OPERATOR(pg_catalog.=) 'low' THEN -100 ELSE 0 END "
    "FROM taken t";

constexpr const char* kRead =
    "SELECT j.* FROM pg_catalog.unnest($1) AS p (place), LATERAL (SELECT j.ctid, j.id, "
    "pg_catalog.decode(j.text_hash, 'hex'), pg_catalog.octet_length(j.input_text), CASE WHEN "
    "pg_catalog.octet_length(j.input_text) OPERATOR(pg_catalog.<=) $5 THEN j.input_text END "
    "FROM ai.embedding_jobs j WHERE j.ctid OPERATOR(pg_catalog.=) p.place "
    "AND j.status OPERATOR(pg_catalog.=) 'processing' AND j.worker_id OPERATOR(pg_catalog.=) $2 "
    "AND j.created_by OPERATOR(pg_catalog.=) $3 AND j.config_key OPERATOR(pg_catalog.=) $4 "
    "OFFSET 0) j";

// The place is but the shortest way to a job; whether it is still there, its id tells.
constexpr const char* kStore =
    "UPDATE ai.embedding_jobs j SET status = 'completed', completed_at = $6, "
    "embedded_at = $6, embedding_vector = m.embedding, "
    "embedding_dimensions = $5, error_message = NULL, processing_time_ms = "
    "pg_catalog.date_part('epoch', $6 OPERATOR(pg_catalog.-) j.started_at) "
    "OPERATOR(pg_catalog.*) 1000 "
    "FROM (SELECT c.* FROM (SELECT pg_catalog.unnest($1) AS id, pg_catalog.unnest($2) AS place, "
    "pg_catalog.unnest($3) AS embedding) c %s) m WHERE j.ctid OPERATOR(pg_catalog.=) m.place "
    "AND (j.id OPERATOR(pg_catalog.=) m.id) IS TRUE "
    "AND (j.status OPERATOR(pg_catalog.=) 'processing') IS TRUE "
    "AND j.worker_id OPERATOR(pg_catalog.=) $4 "
    "RETURNING j.id, ai._embedding_job_tell(j.notify_channel, j.id, j.status)";
constexpr const char* kOfUnlocked =
    ", LATERAL (SELECT FROM ai.embedding_jobs k WHERE k.ctid OPERATOR(pg_catalog.=) c.place "
    "AND k.id OPERATOR(pg_catalog.=) c.id AND k.status OPERATOR(pg_catalog.=) 'processing' "
    "AND k.worker_id OPERATOR(pg_catalog.=) $4 FOR UPDATE SKIP LOCKED) k";

// One that a process has died with stays aside from the others.
constexpr const char* kGiveBack =
    "UPDATE ai.embedding_jobs j SET attempts = j.attempts OPERATOR(pg_catalog.-) 1, "
    "started_at = NULL, status = CASE WHEN $3 OPERATOR(pg_catalog.>) interval '0' "
    "OR j.crashes OPERATOR(pg_catalog.>) 0 THEN 'retrying'::ai.job_status ELSE 'pending' END, "
    "retry_at = CASE WHEN $3 OPERATOR(pg_catalog.>) interval '0' "
    "OR j.crashes OPERATOR(pg_catalog.>) 0 THEN pg_catalog.now() OPERATOR(pg_catalog.+) $3 END "
    "WHERE j.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT k.id FROM ai.embedding_jobs k "
    "WHERE k.id OPERATOR(pg_catalog.=) ANY ($1) "
    "AND k.status OPERATOR(pg_catalog.=) 'processing' AND k.worker_id OPERATOR(pg_catalog.=) $2 "
    "FOR UPDATE SKIP LOCKED)) RETURNING j.id";

constexpr const char* kGiveBackAll =
    "UPDATE ai.embedding_jobs j SET attempts = j.attempts OPERATOR(pg_catalog.-) 1, "
    "started_at = NULL, status = CASE WHEN j.crashes OPERATOR(pg_catalog.>) 0 "
    "THEN 'retrying'::ai.job_status ELSE 'pending' END, "
    "retry_at = CASE WHEN j.crashes OPERATOR(pg_catalog.>) 0 THEN pg_catalog.now() END "
    "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
    "AND j.status OPERATOR(pg_catalog.=) 'processing' AND j.worker_id OPERATOR(pg_catalog.=) $3";

constexpr const char* kFail =
    "WITH held AS MATERIALIZED (SELECT k.id, "
    "$7 OR k.attempts OPERATOR(pg_catalog.>=) k.max_attempts AS over "
    "FROM ai.embedding_jobs k WHERE k.id OPERATOR(pg_catalog.=) ANY ($1) "
    "AND k.status OPERATOR(pg_catalog.=) 'processing' AND k.worker_id OPERATOR(pg_catalog.=) $2 "
    "FOR UPDATE SKIP LOCKED), "
    "ended AS (UPDATE ai.embedding_jobs j SET error_message = $4, "
    "status = CASE WHEN h.over THEN 'failed'::ai.job_status ELSE 'retrying' END, "
    "completed_at = CASE WHEN h.over THEN pg_catalog.now() END, processing_time_ms = "
    "pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) "
    "j.started_at) OPERATOR(pg_catalog.*) 1000, "
    "retry_at = CASE WHEN NOT h.over THEN pg_catalog.now() OPERATOR(pg_catalog.+) "
    "least($3 OPERATOR(pg_catalog.*) pg_catalog.power(2, "
    "least(j.attempts OPERATOR(pg_catalog.-) 1, 20)), interval '5 minutes') END "
    "FROM held h WHERE j.id OPERATOR(pg_catalog.=) h.id RETURNING j.*), "
    "letters AS (INSERT INTO ai.embedding_job_failures SELECT e.id, e.embedding_model, "
    "e.text_hash, $5, $6, $4, e.attempts, e.worker_id, e.created_by, pg_catalog.now() "
    "FROM ended e WHERE e.status OPERATOR(pg_catalog.=) 'failed' "
    "ON CONFLICT (job_id) DO UPDATE SET "
    "step = excluded.step, class = excluded.class, error_message = excluded.error_message, "
    "attempts = excluded.attempts, worker_id = excluded.worker_id, "
    "failed_at = pg_catalog.now()) "
    "SELECT e.id, e.status OPERATOR(pg_catalog.=) 'failed', "
    "CASE WHEN e.status OPERATOR(pg_catalog.=) 'failed' THEN "
    "ai._embedding_job_tell(e.notify_channel, e.id, e.status) END FROM ended e";

constexpr const char* kHeld =
    "SELECT id FROM ai.embedding_jobs WHERE id OPERATOR(pg_catalog.=) ANY ($1) "
    "AND status OPERATOR(pg_catalog.=) 'processing' AND worker_id OPERATOR(pg_catalog.=) $2";

constexpr const char* kNote =
    "UPDATE ai.embedding_jobs SET error_message = $3 "
    "WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
    "SELECT j.ctid FROM ai.embedding_jobs j WHERE j.created_by OPERATOR(pg_catalog.=) $1 "
    "AND j.config_key OPERATOR(pg_catalog.=) $2 AND j.status OPERATOR(pg_catalog.=) 'pending' "
    "ORDER BY j.priority DESC, j.created_at LIMIT 100 "
    "FOR UPDATE SKIP LOCKED))";

/// The text with something in its place.
std::string With(std::string text, std::string_view end) {
  return text.replace(text.find("%s"), 2, end);
}

}  // namespace

JobStatements::JobStatements(Oid vector_array)
    : due(kDue, {OIDOID, UUIDOID, INT8OID}),
      claim(With(kClaim, ""), {OIDOID, UUIDOID, INT8OID, UUIDOID, TEXTOID, TIMESTAMPTZOID}),
      claim_unlocked(With(kClaim, "FOR UPDATE OF j SKIP LOCKED"),
                     {OIDOID, UUIDOID, INT8OID, UUIDOID, TEXTOID, TIMESTAMPTZOID}),
      suspects(kSuspects, {OIDOID, UUIDOID, BOOLOID, INT8OID, UUIDOID, TEXTOID}),
      read(kRead, {TIDARRAYOID, UUIDOID, OIDOID, UUIDOID, INT8OID}),
      store(With(kStore, ""),
            {UUIDARRAYOID, TIDARRAYOID, vector_array, UUIDOID, INT4OID, TIMESTAMPTZOID}),
      store_unlocked(With(kStore, kOfUnlocked),
                     {UUIDARRAYOID, TIDARRAYOID, vector_array, UUIDOID, INT4OID, TIMESTAMPTZOID}),
      give_back(kGiveBack, {UUIDARRAYOID, UUIDOID, INTERVALOID}),
      give_back_all(kGiveBackAll, {OIDOID, UUIDOID, UUIDOID}),
      fail(kFail, {UUIDARRAYOID, UUIDOID, INTERVALOID, TEXTOID, TEXTOID, TEXTOID, BOOLOID}),
      held(kHeld, {UUIDARRAYOID, UUIDOID}),
      note(kNote, {OIDOID, UUIDOID, TEXTOID}) {}

}  // namespace ai::worker
