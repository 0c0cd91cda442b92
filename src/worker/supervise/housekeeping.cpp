#include "worker/supervise/housekeeping.hpp"

#include "core/clock.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/jobs/job_waiters.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {

namespace {

constexpr std::int32_t kJobsPrunedAtOnce = 1000;
constexpr std::chrono::seconds kPruneAtMost{2};  // in one go; the rest comes next time

/// What a step throws is logged. An interrupt is not an error, and is seen by the process's loop.
template <typename Fn>
bool Survive(RecurringError& trouble, Fn&& step) {
  try {
    step();
    return true;
  } catch (const std::exception& error) {
    trouble.Failed(error);
    return false;
  }
}

/// The same for what is done time and again as a whole.
template <typename Fn>
void Keep(RecurringError& trouble, Fn&& step) {
  if (Survive(trouble, step)) {
    trouble.WentWell();
  }
}

/// The same for what is done when something has happened.
template <typename Fn>
void SurviveOnce(const char* what, Fn&& step) {
  RecurringError trouble(what);
  Survive(trouble, step);
}

/// Those that workers may have rows of.
std::vector<std::int32_t> ListVectorizers() {
  std::vector<std::int32_t> vectorizers;
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute(
        "SELECT id FROM ai.vectorizer "
        "WHERE (ai._pages(work) OPERATOR(pg_catalog.=) 0) IS NOT TRUE ORDER BY id");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      vectorizers.push_back(DatumGetInt32(rows.At(i, 0).value()));
    }
  });
  return vectorizers;
}

Reclaimed LogReclaimed(const pg::Rows& rows, std::uint64_t row, std::int32_t id) {
  const std::string name = rows.TextAt(row, "name").value_or("");
  const std::string what = id == 0 ? "embedding jobs" : "rows of vectorizer \"" + name + "\"";
  const std::string owner = rows.TextAt(row, "lease").value();
  const std::string released = rows.TextAt(row, "released").value();
  const std::string dead_letters = rows.TextAt(row, "dead_letters").value();
  pg::Call([&] {
    ereport(LOG, errmsg("ai: worker process %s is gone: of the %s that it had claimed, %s are "
                        "released and %s given up",
                        owner.c_str(), what.c_str(), released.c_str(), dead_letters.c_str()));
  });
  return {id, name, owner};
}

void ReclaimRowsOf(std::int32_t vectorizer, const std::string& live, const std::string& dead,
                   std::vector<Reclaimed>& all) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {
        {INT4OID, Int32GetDatum(vectorizer)},
        {TEXTOID, pg::TextDatum(live)},
        {INT4OID, Int32GetDatum(pg::settings.job_lock_timeout)},
        {TEXTOID, pg::TextDatum(dead)},
    };
    const pg::Rows rows = spi.Execute(
        "SELECT v.name, r.lease, r.released, r.dead_letters"
        " FROM ai.vectorizer v,"
        " ai._vectorizer_reclaim(v, $2::pg_catalog.uuid[], $3 OPERATOR(pg_catalog.*)"
        " interval '1 millisecond', $4::pg_catalog.uuid[]) r"
        " WHERE v.id OPERATOR(pg_catalog.=) $1",
        arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      all.push_back(LogReclaimed(rows, i, vectorizer));
    }
  });
}

void ReclaimJobs(const std::string& live, const std::string& dead, std::vector<Reclaimed>& all) {
  const std::size_t before = all.size();
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {
        {TEXTOID, pg::TextDatum(live)},
        {INT4OID, Int32GetDatum(pg::settings.job_lock_timeout)},
        {TEXTOID, pg::TextDatum(dead)},
    };
    const pg::Rows rows = spi.Execute(
        "SELECT NULL AS name, r.lease, r.released, r.dead_letters FROM ai._embedding_jobs_reclaim("
        "$1::pg_catalog.uuid[], $2 OPERATOR(pg_catalog.*) interval '1 millisecond', "
        "$3::pg_catalog.uuid[]) r",
        arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      all.push_back(LogReclaimed(rows, i, 0));
    }
  });
  if (all.size() > before) {
    WakeAllJobWaiters();
  }
}

/// Returns how many were removed.
std::int64_t PruneJobs() {
  std::int64_t removed = 0;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pg::settings.job_retention)},
                                      {INT4OID, Int32GetDatum(kJobsPrunedAtOnce)}};
    removed =
        DatumGetInt64(*spi.Execute("SELECT ai._embedding_jobs_prune($1 OPERATOR(pg_catalog.*) "
                                   "interval '1 second', $2)",
                                   arguments)
                           .At(0, 0));
  });
  return removed;
}

void BlameJobs() {
  std::int64_t set_aside = 0;
  SurviveOnce("note that embedding jobs ended a worker", [&] {
    WithExtension([&](pg::Spi& spi) {
      const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pg::settings.restart_limit)},
                                        {INT4OID, Int32GetDatum(pg::settings.restart_window)}};
      set_aside = DatumGetInt64(
          *spi.Execute("SELECT ai._embedding_jobs_blame($1, $2 OPERATOR(pg_catalog.*) "
                       "interval '1 millisecond')",
                       arguments)
               .At(0, 0));
    });
  });
  if (set_aside > 0) {
    pg::Call([&] {
      ereport(
          LOG,
          errmsg("ai: embedding jobs have ended too many workers: %lld that may be such are set "
                 "aside",
                 static_cast<long long>(set_aside)),
          errdetail("They are tried again after ai.restart_window."),
          errhint("See ai.embedding_job_failures."));
    });
  }
}

void BlameVectorizer(const Reclaimed& reclaimed, const std::string& component) {
  bool paused = false;
  SurviveOnce("note that the rows of a vectorizer ended a worker", [&] {
    WithExtension([&](pg::Spi& spi) {
      const pg::Argument arguments[] = {
          {INT4OID, Int32GetDatum(reclaimed.vectorizer)},
          {TEXTOID, pg::TextDatum(component)},
          {INT4OID, Int32GetDatum(pg::settings.restart_limit)},
          {INT4OID, Int32GetDatum(pg::settings.restart_window)},
      };
      paused = DatumGetBool(*spi.Execute("SELECT ai._vectorizer_blame($1, $2, $3,"
                                         " $4 OPERATOR(pg_catalog.*) interval '1 millisecond')",
                                         arguments)
                                 .At(0, 0));
    });
  });
  if (paused) {
    pg::Call([&] {
      ereport(LOG,
              errmsg("ai: vectorizer \"%s\" is paused: its rows have ended too many workers",
                     reclaimed.name.c_str()),
              errdetail("It goes on after ai.restart_window."),
              errhint("See ai.vectorizer_errors; ai.resume_vectorizer lets it go on sooner."));
    });
  }
}

}  // namespace

std::optional<SteadyTime> FindDue(SteadyTime now) {
  std::optional<SteadyTime> due;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pg::settings.worker_timeout)}};
    const auto count = spi.Execute(
                              "SELECT ai._next_due($1 OPERATOR(pg_catalog.*) interval '1 "
                              "millisecond')",
                              arguments)
                           .At(0, 0);
    if (count) {
      due = now + std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::duration<double, std::milli>(DatumGetFloat8(*count)));
    }
  });
  return due;
}

std::vector<Reclaimed> Housekeeping::ReclaimRows(const std::string& live, const std::string& dead) {
  std::vector<Reclaimed> all;
  bool all_well = true;
  const bool listed = Survive(rows_, [&] {
    for (const std::int32_t vectorizer : ListVectorizers()) {
      all_well = Survive(rows_, [&] { ReclaimRowsOf(vectorizer, live, dead, all); }) && all_well;
    }
  });
  if (listed && all_well) {
    rows_.WentWell();
  }
  Keep(jobs_, [&] { ReclaimJobs(live, dead, all); });
  return all;
}

void Blame(const Reclaimed& reclaimed, const std::string& component) {
  if (reclaimed.vectorizer == 0) {
    BlameJobs();
  } else {
    BlameVectorizer(reclaimed, component);
  }
}

void Housekeeping::PruneHistory(const std::string& live) {
  Keep(old_processes_, [&] {
    WithExtension([&](pg::Spi& spi) {
      const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(live)}};
      spi.Execute("SELECT ai._worker_prune($1::pg_catalog.uuid[])", arguments);
    });
  });
  Keep(old_samples_, [] {
    WithExtension(
        [](pg::Spi& spi) { spi.Execute("SELECT ai._pause_prune(), ai._prune_samples()"); });
  });
  Keep(old_jobs_, [] {
    const SystemClock clock;
    const SteadyTime start = clock.Now();
    while (pg::settings.job_retention >= 0 && PruneJobs() == kJobsPrunedAtOnce &&
           clock.Now() < start + kPruneAtMost && !EndRequested()) {
    }
  });
}

}  // namespace ai::worker
