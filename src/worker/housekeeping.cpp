#include "worker/housekeeping.hpp"

#include "core/clock.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/job_waiters.hpp"
#include "worker/process.hpp"

namespace ai::worker {

namespace {

constexpr std::int32_t kJobsPrunedAtOnce = 1000;
constexpr std::chrono::seconds kPruneAtMost{2};  // in one go; the rest comes next time

/// What a step throws is logged. An interrupt is not an error, and is seen by the process's loop.
template <typename Fn>
void Survive(const char* what, Fn&& step) {
  try {
    step();
  } catch (const std::exception& error) {
    if (!EndRequested()) {
      LogError(what, error);
    }
  }
}

std::vector<std::int32_t> ListVectorizers() {
  std::vector<std::int32_t> vectorizers;
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute("SELECT id FROM ai.vectorizer ORDER BY id");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      vectorizers.push_back(DatumGetInt32(rows.At(i, 0).value()));
    }
  });
  return vectorizers;
}

void LogReclaimed(const pg::Rows& rows, std::uint64_t row) {
  const std::string what = rows.TextAt(row, 0).value();
  const std::string owner = rows.TextAt(row, 1).value();
  const std::string given_back = rows.TextAt(row, 2).value();
  const std::string given_up = rows.TextAt(row, 3).value();
  pg::Call([&] {
    ereport(LOG, errmsg("ai: worker process %s is gone: of the %s that it had taken, %s are given "
                        "back and %s given up",
                        owner.c_str(), what.c_str(), given_back.c_str(), given_up.c_str()));
  });
}

bool ReclaimRows(std::int32_t vectorizer, const std::string& live) {
  bool found = false;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {
        {INT4OID, Int32GetDatum(vectorizer)},
        {TEXTOID, pg::TextDatum(live)},
        {INT4OID, Int32GetDatum(pg::settings.job_lock_timeout)},
    };
    const pg::Rows rows = spi.Execute(
        "SELECT 'rows of vectorizer \"' || v.name || '\"', r.lease, r.given_back, r.given_up"
        " FROM ai.vectorizer v,"
        " ai._vectorizer_reclaim(v, $2::uuid[], $3 * interval '1 millisecond') r"
        " WHERE v.id = $1",
        arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      LogReclaimed(rows, i);
    }
    found = rows.count() > 0;
  });
  return found;
}

bool ReclaimJobs(const std::string& live) {
  bool found = false;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {
        {TEXTOID, pg::TextDatum(live)},
        {INT4OID, Int32GetDatum(pg::settings.job_lock_timeout)},
    };
    const pg::Rows rows = spi.Execute(
        "SELECT 'embedding jobs', r.lease, r.given_back, r.given_up"
        " FROM ai._embedding_jobs_reclaim($1::uuid[], $2 * interval '1 millisecond') r",
        arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      LogReclaimed(rows, i);
    }
    found = rows.count() > 0;
  });
  if (found) {
    WakeAllJobWaiters();
  }
  return found;
}

/// Returns how many were removed.
std::int64_t PruneJobs() {
  std::int64_t removed = 0;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pg::settings.job_retention)},
                                      {INT4OID, Int32GetDatum(kJobsPrunedAtOnce)}};
    removed = DatumGetInt64(
        *spi.Execute("SELECT ai._embedding_jobs_prune($1 * interval '1 second', $2)", arguments)
             .At(0, 0));
  });
  return removed;
}

}  // namespace

bool ReclaimRows(const std::string& live) {
  bool found = false;
  Survive("look for rows of worker processes that are gone", [&] {
    for (const std::int32_t vectorizer : ListVectorizers()) {
      Survive("give back the rows of worker processes that are gone",
              [&] { found = ReclaimRows(vectorizer, live) || found; });
    }
  });
  Survive("give back the jobs of worker processes that are gone",
          [&] { found = ReclaimJobs(live) || found; });
  return found;
}

void PruneHistory(const std::string& live) {
  Survive("remove old rows about worker processes", [&] {
    WithExtension([&](pg::Spi& spi) {
      const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(live)}};
      spi.Execute("SELECT ai._worker_prune($1::uuid[])", arguments);
    });
  });
  Survive("remove old errors of vectorizers", [&] {
    WithExtension([](pg::Spi& spi) { spi.Execute("SELECT ai._vectorizer_errors_prune()"); });
  });
  Survive("remove old embedding jobs", [] {
    const SystemClock clock;
    const SteadyTime start = clock.Now();
    while (pg::settings.job_retention >= 0 && PruneJobs() == kJobsPrunedAtOnce &&
           clock.Now() < start + kPruneAtMost && !EndRequested()) {
    }
  });
}

}  // namespace ai::worker
