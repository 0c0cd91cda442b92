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
constexpr std::chrono::seconds kPruneAtMost{2};  // per run; the remainder is pruned in the next one

/// Logs what a step throws. An interrupt is not an error; the main loop handles it.
template <typename Fn>
bool TryStep(RecurringError& trouble, Fn&& step) {
  try {
    step();
    return true;
  } catch (const std::exception& error) {
    trouble.Failed(error);
    return false;
  }
}

/// The same for a recurring step.
template <typename Fn>
void Keep(RecurringError& trouble, Fn&& step) {
  if (TryStep(trouble, step)) {
    trouble.Succeeded();
  }
}

/// The same for what is done when something has happened.
template <typename Fn>
void TryStepOnce(const char* what, Fn&& step) {
  RecurringError trouble(what);
  TryStep(trouble, step);
}

/// Vectorizers of which workers may have claimed rows.
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
    ereport(LOG, errmsg("ai: worker process %s exited with claimed %s: %s released, %s moved to "
                        "dead letters",
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

/// Returns the number of jobs removed.
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
  std::int64_t quarantined = 0;
  TryStepOnce("record that embedding jobs crashed a worker", [&] {
    WithExtension([&](pg::Spi& spi) {
      const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pg::settings.restart_limit)},
                                        {INT4OID, Int32GetDatum(pg::settings.restart_window)}};
      quarantined = DatumGetInt64(
          *spi.Execute("SELECT ai._embedding_jobs_blame($1, $2 OPERATOR(pg_catalog.*) "
                       "interval '1 millisecond')",
                       arguments)
               .At(0, 0));
    });
  });
  if (quarantined > 0) {
    pg::Call([&] {
      ereport(
          LOG,
          errmsg("ai: embedding jobs crashed workers too often, %lld suspect jobs are quarantined",
                 static_cast<long long>(quarantined)),
          errdetail("They will be retried after ai.restart_window."),
          errhint("See ai.embedding_job_failures."));
    });
  }
}

void BlameVectorizer(const Reclaimed& reclaimed, const std::string& component) {
  bool paused = false;
  TryStepOnce("record that rows of a vectorizer crashed a worker", [&] {
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
              errmsg("ai: vectorizer \"%s\" paused: its rows crashed workers too often",
                     reclaimed.name.c_str()),
              errdetail("It will be resumed after ai.restart_window."),
              errhint("See ai.vectorizer_errors. Use ai.resume_vectorizer to resume it sooner."));
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
  const bool listed = TryStep(rows_, [&] {
    for (const std::int32_t vectorizer : ListVectorizers()) {
      all_well = TryStep(rows_, [&] { ReclaimRowsOf(vectorizer, live, dead, all); }) && all_well;
    }
  });
  if (listed && all_well) {
    rows_.Succeeded();
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
           clock.Now() < start + kPruneAtMost && !ShutdownRequested()) {
    }
  });
}

}  // namespace ai::worker
