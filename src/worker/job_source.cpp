// Taking jobs and reading their texts.
#include "worker/job_source.hpp"

#include <algorithm>
#include <map>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/extension.hpp"
#include "worker/job_waiters.hpp"
#include "worker/places.hpp"

namespace ai::worker {
namespace {

/// Jobs that are read at once: how long a text is, is only known when it is there.
constexpr long kReadPart = 16;
/// What a job takes beside its text and its vector.
constexpr std::size_t kOverhead = sizeof(Row) + sizeof(Chunk) + 64;

Oid JobTable() {
  return pg::Call(
      [] { return get_relname_relid("embedding_jobs", get_namespace_oid("ai", false)); });
}

Datum SizeDatum(std::size_t size) {
  return Int64GetDatum(static_cast<std::int64_t>(size));
}

Read ReadJob(const pg::Rows& rows, std::uint64_t row) {
  Read read{};
  read.place = pg::TidAt(*rows.At(row, 0));
  read.job = UuidAt(*rows.At(row, 1));
  read.hash = HashOf(rows.At(row, 2));
  read.text = std::string(pg::Utf8View(*rows.At(row, 3)));
  return read;
}

}  // namespace

std::optional<std::string> FindJobConfig(pg::Spi& spi, const JobGroup& group) {
  const pg::Argument arguments[] = {{OIDOID, ObjectIdGetDatum(group.role)},
                                    {UUIDOID, UuidDatum(group.config)}};
  const pg::Rows rows = spi.Execute(
      "SELECT j.embedding_config::text FROM ai.embedding_jobs j WHERE j.created_by = $1 "
      "AND j.config_key = $2 AND j.status = 'pending' UNION ALL "
      "SELECT j.embedding_config::text FROM ai.embedding_jobs j WHERE j.created_by = $1 "
      "AND j.config_key = $2 AND j.status = 'retrying' UNION ALL "
      "SELECT j.embedding_config::text FROM ai.embedding_jobs j WHERE j.created_by = $1 "
      "AND j.config_key = $2 AND j.status = 'processing' LIMIT 1",
      arguments);
  return rows.count() == 0 ? std::nullopt
                           : std::optional(std::string(pg::Utf8View(*rows.At(0, 0))));
}

JobSource::JobSource(const JobGroup& group, std::string_view config, JobStatements& statements)
    : group_(group), document_(json::Document::Parse(config)), statements_(statements) {
  owner = group.role;
  work = JobTable();
  OpenModel();
}

bool JobSource::Take(Lane& lane, Datum lease, std::size_t most, bool retries) {
  std::vector<Uuid> answered;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    if (!LockClaims(spi, 0)) {
      return false;
    }
    if (lane.idle()) {
      lane.work_file = FileOf(work).number;
    }
    CheckPlaces(lane);
    if (!lane.strays.empty()) {
      ReturnStrays(lane, spi, lease);
    }
    if (retries) {
      const pg::Rows due = statements_.due.Execute(
          spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config), SizeDatum(most)});
      if (due.count() < most) {
        lane.next_retry.reset();
      }
      lane.changes = lane.changes || due.count() > 0;
    }
    if (lane.changes) {
      Claim(lane, spi, lease, most);
      answered = Answer(lane, spi);
    }
  }
  transaction.Commit();
  WakeJobWaiters(answered);
  return true;
}

void JobSource::Claim(Lane& lane, pg::Spi& spi, Datum lease, std::size_t most) {
  const pg::Rows rows =
      statements_.claim.Execute(spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config),
                                      SizeDatum(most), lease, pg::TextDatum(LibraryVersion())});
  if (const auto places = rows.At(0, 0)) {
    lane.unread = pg::TidArray(*places);
  }
  lane.changes = lane.unread.size() >= most;
}

/// Completes those that were just taken and whose text has a vector already. Returns which.
std::vector<Uuid> JobSource::Answer(Lane& lane, pg::Spi& spi) {
  std::vector<Uuid> answered;
  if (lane.unread.empty()) {
    return answered;
  }
  const Datum places = PlacesDatum(lane.unread);
  const pg::Rows rows = statements_.reuse.Execute(
      spi, {places, ObjectIdGetDatum(group_.role), UuidDatum(group_.config)});
  PlaceSet known;
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    known.insert(pg::TidAt(*rows.At(i, 0)));
    answered.push_back(UuidAt(*rows.At(i, 1)));
  }
  std::erase_if(lane.unread, [&](const Place& place) { return known.contains(place); });
  if (!answered.empty()) {
    Count(spi, answered.size(), {.reused_chunks = static_cast<std::int64_t>(answered.size())});
  }
  return answered;
}

std::vector<Read> JobSource::ReadTaken(Lane& lane, Datum lease, std::size_t bytes) {
  std::vector<Read> reads;
  bool all = true;
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    pg::Spi spi;
    std::size_t total = 0;
    const Datum places = PlacesDatum(lane.unread);
    statements_.read.Fetch(spi,
                           {places, lease, ObjectIdGetDatum(group_.role), UuidDatum(group_.config)},
                           kReadPart, [&](const pg::Rows& rows) {
                             for (std::uint64_t i = 0; i < rows.count(); ++i) {
                               reads.push_back(ReadJob(rows, i));
                               total += reads.back().text->size();
                             }
                             all = total < bytes;
                             return all;
                           });
  }
  transaction.Commit();
  lane.unread = all ? std::vector<Place>() : NotRead(lane.unread, reads);
  return reads;
}

RowPtr JobSource::Cut(const Read& read) const {
  auto row = std::make_shared<Row>();
  row->place = read.place;
  row->jobs = {read.job};
  row->bytes = kOverhead + read.text->size() + dimensions() * sizeof(float);
  row->chunks.push_back({*read.text, read.hash, false, 0, {}});
  row->waiting = 1;
  return row;
}

void JobSource::Reuse(Lane& lane, std::vector<RowPtr>& rows) {
  std::map<policy::ContentHash, RowPtr> in_hand;
  for (const RowPtr& row : lane.held) {
    in_hand.emplace(row->chunks[0].hash, row);
  }
  std::erase_if(rows, [&](const RowPtr& row) {
    const auto [first, is_new] = in_hand.emplace(row->chunks[0].hash, row);
    if (!is_new) {
      first->second->jobs.push_back(row->jobs[0]);
      ++lane.usage.reused_chunks;
    }
    return !is_new;
  });
}

}  // namespace ai::worker
