// See flow.hpp: counters. What workers count is added to the tables now and then, not with each
// batch that is stored: each addition leaves a dead version of a row that everybody looks at, and
// under a snapshot that is held for long none of them can be removed. A crash loses what was
// counted since the last heartbeat; an orderly end loses nothing.
#include "pg/datum.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"
#include "worker/life.hpp"

namespace ai::worker {
namespace {

pg::Argument Number(std::int64_t value) {
  return {INT8OID, Int64GetDatum(value)};
}

/// A vectorizer that was dropped meanwhile has no counters any more.
void AddUsageOfVectorizer(const Lane& lane, const std::string& lease, pg::Spi& spi) {
  const Usage& usage = lane.usage;
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(lease)},
                                    {INT4OID, Int32GetDatum(lane.id)},
                                    Number(usage.rows),
                                    {TEXTOID, pg::TextDatum(lane.usage_model)},
                                    Number(usage.requests),
                                    Number(usage.input_tokens),
                                    Number(usage.sent_chunks),
                                    Number(usage.reused_chunks),
                                    Number(usage.truncated_chunks)};
  if (usage.rows > 0) {
    spi.Execute(
        "SELECT ai._worker_progress($1::pg_catalog.uuid, v.id, $3, NULL) FROM ai.vectorizer v "
        "WHERE v.id OPERATOR(pg_catalog.=) $2",
        std::span(arguments, 3));
  }
  spi.Execute(
      "SELECT ai._worker_usage(v.id, $4, $5, $6, $3, $7, $8, $9) FROM ai.vectorizer v "
      "WHERE v.id OPERATOR(pg_catalog.=) $2",
      arguments);
}

void AddUsageOfJobs(const Lane& lane, pg::Spi& spi) {
  const Usage& usage = lane.usage;
  const pg::Argument arguments[] = {{OIDOID, ObjectIdGetDatum(lane.jobs->role)},
                                    {TEXTOID, pg::TextDatum(lane.usage_model)},
                                    Number(usage.rows),
                                    Number(usage.requests),
                                    Number(usage.input_tokens),
                                    Number(usage.sent_chunks),
                                    Number(usage.reused_chunks),
                                    Number(usage.truncated_chunks)};
  spi.Execute("SELECT ai._embedding_job_count($1, $2, $3, $4, $5, $6, $7, $8)", arguments);
}

}  // namespace

void Flow::CountUsage() {
  for (auto& [id, lane] : lanes_) {
    if (lane.usage != Usage() && lane.count_after <= clock_.Now()) {
      CountUsage(lane);
    }
  }
}

/// If it cannot be done, because somebody is just dropping the vectorizer for one, it is tried
/// again.
void Flow::CountUsage(Lane& lane) {
  lane.count_after = clock_.Now() + HeartbeatInterval();
  try {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      if (lane.jobs) {
        AddUsageOfJobs(lane, spi);
      } else {
        AddUsageOfVectorizer(lane, lease_, spi);
      }
    }
    transaction.Commit();
    lane.usage = {};
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
  }
}

void Flow::CountAllUsage() {
  for (auto& [id, lane] : lanes_) {
    if (lane.usage != Usage()) {
      CountUsage(lane);
    }
  }
}

}  // namespace ai::worker
