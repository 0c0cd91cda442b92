#include "worker/statements/usage.hpp"

#include "pg/datum.hpp"

namespace ai::worker {
namespace {

pg::Argument Number(std::int64_t value) {
  return {INT8OID, Int64GetDatum(value)};
}

double Seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

void AddUsageOfVectorizer(pg::Spi& spi, std::int32_t id, const std::string& lease,
                          const std::string& model, const pipeline::Usage& usage) {
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(lease)},
                                    {INT4OID, Int32GetDatum(id)},
                                    Number(usage.rows),
                                    {FLOAT8OID, Float8GetDatum(Seconds(usage.last_row_at))},
                                    {TEXTOID, pg::TextDatum(model)},
                                    Number(usage.requests),
                                    Number(usage.input_tokens),
                                    Number(usage.sent_chunks),
                                    Number(usage.reused_chunks),
                                    Number(usage.truncated_chunks)};
  if (usage.rows > 0) {
    spi.Execute(
        "SELECT ai._worker_progress($1::pg_catalog.uuid, v.id, $3, NULL, "
        "pg_catalog.to_timestamp($4)) FROM ai.vectorizer v "
        "WHERE v.id OPERATOR(pg_catalog.=) $2",
        std::span(arguments, 4));
  }
  spi.Execute(
      "SELECT ai._worker_usage(v.id, $5, $6, $7, $3, $8, $9, $10) FROM ai.vectorizer v "
      "WHERE v.id OPERATOR(pg_catalog.=) $2",
      arguments);
}

void AddUsageOfJobs(pg::Spi& spi, const JobGroup& group, const std::string& model,
                    const pipeline::Usage& usage) {
  const pg::Argument arguments[] = {{OIDOID, ObjectIdGetDatum(group.role)},
                                    {TEXTOID, pg::TextDatum(model)},
                                    Number(usage.rows),
                                    Number(usage.requests),
                                    Number(usage.input_tokens),
                                    Number(usage.sent_chunks),
                                    Number(usage.reused_chunks),
                                    Number(usage.truncated_chunks)};
  spi.Execute("SELECT ai._embedding_job_count($1, $2, $3, $4, $5, $6, $7, $8)", arguments);
}

}  // namespace ai::worker
