// Ending the hold on jobs: completed, given back, to be tried again, given up.
#include <algorithm>

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/settings.hpp"
#include "worker/ending.hpp"
#include "worker/extension.hpp"
#include "worker/job_source.hpp"

namespace ai::worker {

using pipeline::Job;
using pipeline::RowPtr;
using pipeline::Step;

namespace {

/// Good as long as the jobs are.
Datum UuidsDatum(std::span<const Uuid> uuids) {
  std::vector<Datum> elements;
  elements.reserve(uuids.size());
  for (const Uuid& uuid : uuids) {
    elements.push_back(UuidDatum(uuid));
  }
  return pg::ArrayDatum(UUIDOID, elements);
}

std::vector<Uuid> JobsOf(std::span<const RowPtr> rows) {
  std::vector<Uuid> jobs;
  for (const RowPtr& row : rows) {
    for (const Job& job : row->jobs) {
      jobs.push_back(job.id);
    }
  }
  return jobs;
}

std::vector<Uuid> UuidsFrom(const pg::Rows& rows) {
  std::vector<Uuid> uuids;
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    uuids.push_back(UuidAt(*rows.At(i, 0)));
  }
  return uuids;
}

}  // namespace

Step<pipeline::Stored> JobSource::Store(std::span<const RowPtr> rows) {
  return RunStep([&] {
    const std::vector<Uuid> jobs = JobsOf(rows);
    std::vector<Tid> tids;
    std::vector<Datum> vectors;
    for (const RowPtr& row : rows) {
      const Datum vector = pg::VectorDatum(row->chunks[0].vector.view());
      for (const Job& job : row->jobs) {
        tids.push_back(job.tid);
        vectors.push_back(vector);
      }
    }
    pg::Statement& store = MindLocks() ? statements_.store_unlocked : statements_.store;
    std::vector<Uuid> done;
    WatchForLocks([&] {
      WorkTransaction transaction;
      {
        pg::Spi spi;
        const TidDatums datums(tids);
        const pg::Rows stored = store.Execute(
            spi, {UuidsDatum(jobs), datums.Array(), pg::ArrayDatum(vector_type_, vectors), lease(),
                  Int32GetDatum(static_cast<std::int32_t>(dimensions())),
                  TimestampTzGetDatum(GetCurrentTimestamp())});
        done = UuidsFrom(stored);
        NoteLocked(spi, jobs, stored);
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

/// A job that is with another process by now is passed over where it is ended.
Step<std::vector<RowPtr>> JobSource::StillHeld(std::span<const RowPtr> /*rows*/) {
  return std::vector<RowPtr>();
}

Step<> JobSource::Release(std::span<const RowPtr> rows, std::chrono::milliseconds delay) {
  return RunStep([&] {
    const std::vector<Uuid> jobs = JobsOf(rows);
    WorkTransaction transaction;
    {
      pg::Spi spi;
      NoteLocked(spi, jobs,
                 statements_.give_back.Execute(
                     spi, {UuidsDatum(jobs), lease(), pg::IntervalDatum(delay)}));
    }
    transaction.Commit();
  });
}

/// How long a text of a job is, is not known before it is loaded: what is claimed is done here.
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
      statements_.give_back_all.Execute(
          spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config), lease()});
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
  std::vector<Uuid> over;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const std::chrono::milliseconds delay(pg::settings.job_retry_delay);
    const pg::Rows ended = statements_.fail.Execute(
        spi, {UuidsDatum(jobs), lease(), pg::IntervalDatum(delay),
              pg::MessageDatum(utf8::Clip(failure.message, kMostMessage)), pg::TextDatum(step),
              pg::TextDatum(Name(failure.failure_class)), BoolGetDatum(final)});
    for (std::uint64_t i = 0; i < ended.count(); ++i) {
      if (DatumGetBool(*ended.At(i, 1))) {
        over.push_back(UuidAt(*ended.At(i, 0)));
      }
    }
    NoteLocked(spi, jobs, ended);
  }
  transaction.Commit();
  WakeJobWaiters(over);
}

/// Of the jobs that were to be ended, those that were not and still are this worker's: somebody has
/// locked them. The others are cancelled, or with another process.
void JobSource::NoteLocked(pg::Spi& spi, std::vector<Uuid> jobs, const pg::Rows& ended) {
  if (ended.count() == jobs.size()) {
    return;
  }
  const std::vector<Uuid> known = UuidsFrom(ended);
  std::erase_if(jobs, [&](const Uuid& job) {
    return std::find(known.begin(), known.end(), job) != known.end();
  });
  const std::vector<Uuid> held =
      UuidsFrom(statements_.held.Execute(spi, {UuidsDatum(jobs), lease()}));
  unreleased_.insert(unreleased_.end(), held.begin(), held.end());
}

void JobSource::ReleaseLocked(pg::Spi& spi) {
  if (unreleased_.empty()) {
    return;
  }
  const std::vector<Uuid> jobs = std::exchange(unreleased_, {});
  const Datum at_once = pg::IntervalDatum(std::chrono::milliseconds(0));
  NoteLocked(spi, jobs, statements_.give_back.Execute(spi, {UuidsDatum(jobs), lease(), at_once}));
}

}  // namespace ai::worker
