// Ending the leases on jobs: completed, released, retried, dead letters.
#include <algorithm>

#include "core/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/settings.hpp"
#include "worker/jobs/job_source.hpp"
#include "worker/process/extension.hpp"
#include "worker/vectorizer/ending.hpp"

namespace ai::worker {

using pipeline::Job;
using pipeline::RowPtr;
using pipeline::Step;

namespace {

std::vector<Uuid> JobsOf(std::span<const RowPtr> rows) {
  std::vector<Uuid> jobs;
  for (const RowPtr& row : rows) {
    for (const Job& job : row->jobs) {
      jobs.push_back(job.id);
    }
  }
  return jobs;
}

}  // namespace

Step<pipeline::Stored> JobSource::Store(std::span<const RowPtr> rows) {
  return RunStep([&] {
    const std::vector<Uuid> jobs = JobsOf(rows);
    std::vector<Uuid> done;
    WatchForLocks([&] {
      WorkTransaction transaction;
      {
        pg::Spi spi;
        done = statements_.store.Execute(spi, rows, lease(), dimensions(), MindLocks());
        NoteLocked(spi, jobs, done);
      }
      transaction.Commit();
    });
    WakeJobWaiters(done);
    pipeline::Stored stored;
    stored.usage.rows = static_cast<std::int64_t>(done.size());
    return stored;
  });
}

Step<bool> JobSource::IsGone(const RowPtr& /*row*/) {
  return false;
}

/// Statements skip jobs that another process has claimed since.
Step<std::vector<RowPtr>> JobSource::StillHeld(std::span<const RowPtr> /*rows*/) {
  return std::vector<RowPtr>();
}

Step<> JobSource::Release(std::span<const RowPtr> rows, std::chrono::milliseconds delay) {
  return RunStep([&] {
    const std::vector<Uuid> jobs = JobsOf(rows);
    WorkTransaction transaction;
    {
      pg::Spi spi;
      NoteLocked(spi, jobs, statements_.release.Execute(spi, jobs, lease(), delay));
    }
    transaction.Commit();
  });
}

/// The length of a job's text is not known before it is loaded: claimed jobs are processed by this
/// worker.
Step<> JobSource::ReleaseUnread(std::size_t /*keep*/) {
  return {};
}

Step<> JobSource::ReleaseAll() {
  unread_.clear();
  loaded_.clear();
  return RunStep([&] {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      statements_.release_all.Execute(spi, group_, lease());
    }
    transaction.Commit();
    unreleased_.clear();
  });
}

Step<> JobSource::Retry(std::span<const RowPtr> rows, std::string_view step,
                        const Failure& failure) {
  return RunStep([&] { Fail(rows, step, failure, false); });
}

Step<> JobSource::DeadLetter(std::span<const RowPtr> rows, std::string_view step,
                             const Failure& failure) {
  return RunStep([&] { Fail(rows, step, failure, true); });
}

void JobSource::Fail(std::span<const RowPtr> rows, std::string_view step, const Failure& failure,
                     bool final) {
  const std::vector<Uuid> jobs = JobsOf(rows);
  FailJobs::Result failed;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const std::chrono::milliseconds delay(pg::settings.job_retry_delay);
    failed = statements_.fail.Execute(spi, jobs, lease(), delay, step, failure, final);
    NoteLocked(spi, jobs, failed.ended);
  }
  transaction.Commit();
  WakeJobWaiters(failed.dead_letters);
}

/// Of the jobs whose lease was to end, those that this worker still holds because they are locked.
/// The others were cancelled or claimed by another process.
void JobSource::NoteLocked(pg::Spi& spi, std::vector<Uuid> jobs, std::span<const Uuid> ended) {
  if (ended.size() == jobs.size()) {
    return;
  }
  std::erase_if(jobs, [&](const Uuid& job) {
    return std::find(ended.begin(), ended.end(), job) != ended.end();
  });
  const std::vector<Uuid> held = statements_.find_held.Execute(spi, jobs, lease());
  unreleased_.insert(unreleased_.end(), held.begin(), held.end());
}

void JobSource::ReleaseLocked(pg::Spi& spi) {
  if (unreleased_.empty()) {
    return;
  }
  const std::vector<Uuid> jobs = std::exchange(unreleased_, {});
  constexpr std::chrono::milliseconds kAtOnce(0);
  NoteLocked(spi, jobs, statements_.release.Execute(spi, jobs, lease(), kAtOnce));
}

}  // namespace ai::worker
