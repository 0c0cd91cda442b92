// Ending the hold on jobs: completed, given back, to be tried again, given up.
#include <algorithm>

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/settings.hpp"
#include "worker/ending.hpp"
#include "worker/extension.hpp"
#include "worker/job_source.hpp"

namespace ai::worker {
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

std::vector<RowPtr> JobSource::Store(Lane& lane, Datum lease, std::span<const RowPtr> rows) {
  const std::vector<Uuid> jobs = JobsOf(rows);
  std::vector<Datum> places;
  std::vector<Datum> vectors;
  for (const RowPtr& row : rows) {
    const Datum vector = pg::VectorDatum(row->chunks[0].vector.view());
    for (const Job& job : row->jobs) {
      places.push_back(pg::TidDatum(&job.place));
      vectors.push_back(vector);
    }
  }
  pg::Statement& store = MindLocks() ? statements_.store_unlocked : statements_.store;
  std::vector<Uuid> done;
  WatchForLocks([&] {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      const pg::Rows stored =
          store.Execute(spi, {UuidsDatum(jobs), pg::ArrayDatum(TIDOID, places),
                              pg::ArrayDatum(vector_type, vectors), lease,
                              Int32GetDatum(static_cast<std::int32_t>(dimensions())),
                              TimestampTzGetDatum(GetCurrentTimestamp())});
      done = UuidsFrom(stored);
      NoteStrays(lane, spi, lease, jobs, stored);
    }
    transaction.Commit();
  });
  lane.usage.rows += static_cast<std::int64_t>(done.size());
  WakeJobWaiters(done);
  return {};
}

void JobSource::GiveBack(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                         std::chrono::milliseconds delay) {
  const std::vector<Uuid> jobs = JobsOf(rows);
  WorkTransaction transaction;
  {
    pg::Spi spi;
    NoteStrays(
        lane, spi, lease, jobs,
        statements_.give_back.Execute(spi, {UuidsDatum(jobs), lease, pg::IntervalDatum(delay)}));
  }
  transaction.Commit();
}

void JobSource::GiveBackAll(Datum lease) {
  WorkTransaction transaction;
  {
    pg::Spi spi;
    statements_.give_back_all.Execute(
        spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config), lease});
  }
  transaction.Commit();
}

void JobSource::TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                         std::string_view step, const Failure& failure) {
  Fail(lane, lease, rows, step, failure, false);
}

void JobSource::GiveUp(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
                       const Failure& failure) {
  Fail(lane, lease, rows, step, failure, true);
}

void JobSource::Fail(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
                     const Failure& failure, bool final) {
  const std::vector<Uuid> jobs = JobsOf(rows);
  std::vector<Uuid> over;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const std::chrono::milliseconds delay(pg::settings.job_retry_delay);
    const pg::Rows ended = statements_.fail.Execute(
        spi, {UuidsDatum(jobs), lease, pg::IntervalDatum(delay),
              pg::MessageDatum(utf8::Clip(failure.message, kMostMessage)), pg::TextDatum(step),
              pg::TextDatum(Name(failure.failure_class)), BoolGetDatum(final)});
    for (std::uint64_t i = 0; i < ended.count(); ++i) {
      if (DatumGetBool(*ended.At(i, 1))) {
        over.push_back(UuidAt(*ended.At(i, 0)));
      }
    }
    NoteStrays(lane, spi, lease, jobs, ended);
  }
  transaction.Commit();
  WakeJobWaiters(over);
}

/// Of the jobs that were to be ended, those that were not and still are this worker's: somebody has
/// locked them. The others are cancelled, or with another process.
void JobSource::NoteStrays(Lane& lane, pg::Spi& spi, Datum lease, std::vector<Uuid> jobs,
                           const pg::Rows& ended) {
  if (ended.count() == jobs.size()) {
    return;
  }
  const std::vector<Uuid> known = UuidsFrom(ended);
  std::erase_if(jobs, [&](const Uuid& job) {
    return std::find(known.begin(), known.end(), job) != known.end();
  });
  const std::vector<Uuid> held =
      UuidsFrom(statements_.held.Execute(spi, {UuidsDatum(jobs), lease}));
  lane.strays.insert(lane.strays.end(), held.begin(), held.end());
}

void JobSource::ReturnStrays(Lane& lane, pg::Spi& spi, Datum lease) {
  const std::vector<Uuid> jobs = std::exchange(lane.strays, {});
  NoteStrays(lane, spi, lease, jobs,
             statements_.give_back.Execute(
                 spi, {UuidsDatum(jobs), lease, pg::IntervalDatum(std::chrono::milliseconds(0))}));
}

}  // namespace ai::worker
