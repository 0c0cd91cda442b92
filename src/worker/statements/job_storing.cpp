#include "worker/statements/job_storing.hpp"

#include "core/text/fill.hpp"
#include "pg/datum.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

using pipeline::Job;
using pipeline::RowPtr;

namespace {

// $1 ids, $2 tids, $3 vectors, $4 the lease, $5 dimensions, $6 now. The tid is only a shortcut; the
// id tells whether it is still the same job.
constexpr const char* kStore = R"(
UPDATE ai.embedding_jobs j SET status = 'completed', completed_at = $6, embedded_at = $6,
  embedding_vector = m.embedding, embedding_dimensions = $5, error_message = NULL,
  processing_time_ms = pg_catalog.date_part('epoch', $6 OPERATOR(pg_catalog.-) j.started_at)
    OPERATOR(pg_catalog.*) 1000
FROM (SELECT c.* FROM (SELECT pg_catalog.unnest($1) AS id, pg_catalog.unnest($2) AS tid,
        pg_catalog.unnest($3) AS embedding) c {unlocked}) m
WHERE j.ctid OPERATOR(pg_catalog.=) m.tid AND (j.id OPERATOR(pg_catalog.=) m.id) IS TRUE
  AND (j.status OPERATOR(pg_catalog.=) 'processing') IS TRUE
  AND j.worker_id OPERATOR(pg_catalog.=) $4
RETURNING j.id, ai._embedding_job_tell(j.notify_channel, j.id, j.status))";

constexpr const char* kUnlocked = R"(,
  LATERAL (SELECT FROM ai.embedding_jobs k WHERE k.ctid OPERATOR(pg_catalog.=) c.tid
    AND k.id OPERATOR(pg_catalog.=) c.id AND k.status OPERATOR(pg_catalog.=) 'processing'
    AND k.worker_id OPERATOR(pg_catalog.=) $4 FOR UPDATE SKIP LOCKED) k)";

std::string StoreText(const char* unlocked) {
  return text::Fill(kStore, [&](std::string_view) { return std::string(unlocked); });
}

}  // namespace

StoreJobs::StoreJobs(const VectorTypes& types)
    : statement_(StoreText(""),
                 {UUIDARRAYOID, TIDARRAYOID, types.array, UUIDOID, INT4OID, TIMESTAMPTZOID}),
      minding_locks_(StoreText(kUnlocked),
                     {UUIDARRAYOID, TIDARRAYOID, types.array, UUIDOID, INT4OID, TIMESTAMPTZOID}),
      vector_type_(types.element) {}

std::vector<Uuid> StoreJobs::Execute(pg::Spi& spi, std::span<const RowPtr> rows,
                                     const pg_uuid_t& lease, std::size_t dimensions,
                                     bool mind_locks) {
  std::vector<Uuid> ids;
  std::vector<Tid> tids;
  std::vector<Datum> vectors;
  for (const RowPtr& row : rows) {
    const Datum vector = pg::VectorDatum(row->chunks[0].vector.view());
    for (const Job& job : row->jobs) {
      ids.push_back(job.id);
      tids.push_back(job.tid);
      vectors.push_back(vector);
    }
  }
  return IdsFrom((mind_locks ? minding_locks_ : statement_)
                     .Execute(spi, {UuidsDatum(ids), TidDatums(tids).Array(),
                                    pg::ArrayDatum(vector_type_, vectors), UUIDPGetDatum(&lease),
                                    Int32GetDatum(static_cast<std::int32_t>(dimensions)),
                                    TimestampTzGetDatum(GetCurrentTimestamp())}));
}

}  // namespace ai::worker
