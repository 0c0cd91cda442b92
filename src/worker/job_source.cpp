// Taking jobs and reading their texts.
#include "worker/job_source.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
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

/// Vectors that were made before that are too old to be used again.
Datum OldestReused() {
  const std::int64_t seconds = pg::settings.cache_ttl;
  const TimestampTz now = GetCurrentTransactionStartTimestamp();
  return TimestampTzGetDatum(seconds < 0    ? DT_NOBEGIN
                             : seconds == 0 ? DT_NOEND
                                            : now - seconds * USECS_PER_SEC);
}

Read ReadJob(const pg::Rows& rows, std::uint64_t row) {
  Read read{};
  read.place = pg::TidAt(*rows.At(row, 0));
  read.job = UuidAt(*rows.At(row, 1));
  read.hash = HashOf(rows.At(row, 2));
  read.size = static_cast<std::size_t>(DatumGetInt32(*rows.At(row, 3)));
  if (const auto text = rows.At(row, 4)) {
    read.text = std::string(pg::Utf8View(*text));
  }
  return read;
}

}  // namespace

std::optional<std::string> FindJobConfig(pg::Spi& spi, const JobGroup& group) {
  const pg::Argument arguments[] = {{OIDOID, ObjectIdGetDatum(group.role)},
                                    {UUIDOID, UuidDatum(group.config)}};
  const pg::Rows rows = spi.Execute(
      "SELECT j.embedding_config::pg_catalog.text FROM ai.embedding_jobs j "
      "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
      "AND j.status OPERATOR(pg_catalog.=) 'pending' UNION ALL "
      "SELECT j.embedding_config::pg_catalog.text FROM ai.embedding_jobs j "
      "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
      "AND j.status OPERATOR(pg_catalog.=) 'retrying' UNION ALL "
      "SELECT j.embedding_config::pg_catalog.text FROM ai.embedding_jobs j "
      "WHERE j.created_by OPERATOR(pg_catalog.=) $1 AND j.config_key OPERATOR(pg_catalog.=) $2 "
      "AND j.status OPERATOR(pg_catalog.=) 'processing' LIMIT 1",
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

Taken JobSource::Take(Lane& lane, Datum lease, std::size_t most, Wanted wanted) {
  Claimed claimed;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const Taken taken = LockClaims(spi, work, 0);
    if (taken.busy || taken.pause_left) {
      return taken;
    }
    if (lane.idle()) {
      lane.work_file = FileOf(work).number;
    }
    CheckPlaces(lane);
    if (!lane.strays.empty()) {
      ReturnStrays(lane, spi, lease);
    }
    if (wanted == Wanted::kSuspects) {
      TakeSuspects(lane, spi, lease);
    }
    if (wanted == Wanted::kRetries) {
      const pg::Rows due = statements_.due.Execute(
          spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config), SizeDatum(most)});
      if (due.count() < most) {
        lane.next_retry.reset();
      }
      lane.changes = lane.changes || due.count() > 0;
    }
    if (wanted != Wanted::kSuspects && lane.changes) {
      WatchForLocks([&] { claimed = Claim(lane, spi, lease, most); });
    }
  }
  transaction.Commit();
  reads_ = std::move(claimed.reads);
  WakeJobWaiters(claimed.answered);
  return {};
}

/// As for rows of vectorizers: one that two processes have died with, else a group that one has.
void JobSource::TakeSuspects(Lane& lane, pg::Spi& spi, Datum lease) {
  constexpr std::size_t kGroup = 100;
  const auto take = [&](bool alone, std::size_t most) {
    const pg::Rows rows = statements_.suspects.Execute(
        spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config), BoolGetDatum(alone),
              SizeDatum(most), lease, pg::TextDatum(LibraryVersion())});
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      lane.unread.push_back(pg::TidAt(*rows.At(i, 0)));
    }
    return rows.count() > 0;
  };
  if (!take(true, 1) && !take(false, kGroup)) {
    lane.next_suspect.reset();
  }
}

JobSource::Claimed JobSource::Claim(Lane& lane, pg::Spi& spi, Datum lease, std::size_t most) {
  pg::Statement& claim = MindLocks() ? statements_.claim_unlocked : statements_.claim;
  const pg::Rows rows =
      claim.Execute(spi, {ObjectIdGetDatum(group_.role), UuidDatum(group_.config), SizeDatum(most),
                          lease, pg::TextDatum(LibraryVersion()), OldestReused()});
  Claimed claimed;
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    Read read = ReadJob(rows, i);
    if (DatumGetBool(*rows.At(i, 5))) {
      claimed.answered.push_back(read.job);
      continue;
    }
    lane.unread.push_back(read.place);
    if (read.text) {
      claimed.reads.push_back(std::move(read));
    }
  }
  lane.changes = rows.count() >= most;
  if (lane.changes) {
    lane.priority = DatumGetInt32(*rows.At(rows.count() - 1, 7));  // nothing above it is left
  }
  const auto answered = static_cast<std::int64_t>(claimed.answered.size());
  lane.usage.rows += answered;
  lane.usage.reused_chunks += answered;
  return claimed;
}

/// Texts that are longer come without it.
void JobSource::Fetch(pg::Spi& spi, Datum lease, std::span<const Place> places, std::size_t most,
                      const std::function<bool(Read)>& take) {
  statements_.read.Fetch(spi,
                         {PlacesDatum(places), lease, ObjectIdGetDatum(group_.role),
                          UuidDatum(group_.config), SizeDatum(most)},
                         kReadPart, [&](const pg::Rows& rows) {
                           bool goes_on = true;
                           for (std::uint64_t i = 0; i < rows.count(); ++i) {
                             goes_on = take(ReadJob(rows, i));
                           }
                           return goes_on;
                         });
}

/// Those that came with the claim; then others, long texts one by one at the end.
std::vector<Read> JobSource::ReadTaken(Lane& lane, Datum lease, std::size_t bytes) {
  if (!reads_.empty()) {
    lane.unread = NotRead(lane.unread, reads_);
    return std::exchange(reads_, {});
  }
  constexpr std::size_t kLong = std::size_t{256} << 10;
  std::vector<Read> reads;
  std::vector<Place> large;
  std::size_t total = 0;
  bool all = true;
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    pg::Spi spi;
    Fetch(spi, lease, lane.unread, kLong, [&](Read read) {
      if (read.text) {
        total += read.size;
        reads.push_back(std::move(read));
      } else {
        large.push_back(read.place);
      }
      return all = total < bytes;
    });
    for (const Place& place : large) {
      all = all && total < bytes;
      if (all) {
        Fetch(spi, lease, std::span(&place, 1), std::numeric_limits<std::int32_t>::max(),
              [&](Read read) {
                total += read.size;
                reads.push_back(std::move(read));
                return true;
              });
      }
    }
  }
  transaction.Commit();
  lane.unread = all ? std::vector<Place>() : NotRead(lane.unread, reads);
  return reads;
}

RowPtr JobSource::Cut(const Read& read) const {
  auto row = std::make_shared<Row>();
  row->jobs = {{read.job, read.place}};
  row->bytes = kOverhead + read.text->size() + dimensions() * sizeof(float);
  row->chunks.push_back({.text = *read.text, .hash = read.hash});
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
