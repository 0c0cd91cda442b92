// Claiming jobs and loading their texts.
#include "worker/jobs/job_source.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {

using pipeline::Chunk;
using pipeline::LoadedRow;
using pipeline::Row;
using pipeline::RowPtr;

namespace {

/// Memory of a job besides its text and vector.
constexpr std::size_t kOverhead = sizeof(Row) + sizeof(Chunk) + 64;

Oid JobTable() {
  return pg::Call(
      [] { return get_relname_relid("embedding_jobs", get_namespace_oid("ai", false)); });
}

/// Vectors from before that are too old to be reused.
TimestampTz OldestReused() {
  const std::int64_t seconds = pg::settings.cache_ttl;
  const TimestampTz now = GetCurrentTransactionStartTimestamp();
  return seconds < 0 ? DT_NOBEGIN : seconds == 0 ? DT_NOEND : now - seconds * USECS_PER_SEC;
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

JobSource::JobSource(const JobGroup& group, std::string_view config, JobStatements& statements,
                     const SourceContext& context)
    : EmbeddingSource(context),
      group_(group),
      document_(json::Document::Parse(config)),
      statements_(statements),
      work_(JobTable()) {
  OpenModel(group.role);
}

pipeline::Step<pipeline::Claimed> JobSource::Claim(const pipeline::ClaimRequest& request) {
  return RunStep([&] {
    pipeline::Claimed claimed;
    WorkTransaction transaction;
    {
      pg::Spi spi;
      if (const auto not_now = LockClaims(spi, work_, 0)) {
        return *not_now;
      }
      if (!request.in_progress) {
        work_file_ = FileOf(work_).number;
      }
      CheckFile(work_, work_file_);
      ReleaseLocked(spi);
      if (request.wanted == pipeline::Wanted::kSuspects) {
        ClaimSuspects(spi, claimed);
      }
      bool changes = request.changes;
      if (request.wanted == pipeline::Wanted::kRetries) {
        const std::size_t due = statements_.requeue_due.Execute(spi, group_, request.most);
        claimed.more_retries = due >= request.most;
        changes = changes || due > 0;
      }
      if (request.wanted != pipeline::Wanted::kSuspects && changes) {
        WatchForLocks([&] { ClaimPending(spi, request.most, claimed); });
      }
    }
    transaction.Commit();
    WakeJobWaiters(std::exchange(answered_, {}));
    return claimed;
  });
}

/// As for rows of vectorizers: one that two processes crashed with, or a group that one crashed
/// with.
void JobSource::ClaimSuspects(pg::Spi& spi, pipeline::Claimed& claimed) {
  constexpr std::size_t kGroup = 100;
  const auto claim = [&](bool alone, std::size_t most) {
    const std::vector<Tid> tids =
        statements_.claim_suspects.Execute(spi, group_, alone, most, lease());
    unread_.insert(unread_.end(), tids.begin(), tids.end());
    return !tids.empty();
  };
  const bool alone_first = !std::exchange(alone_last_, !alone_last_);
  claimed.more_suspects =
      alone_first ? claim(true, 1) || claim(false, kGroup) : claim(false, kGroup) || claim(true, 1);
}

void JobSource::ClaimPending(pg::Spi& spi, std::size_t most, pipeline::Claimed& claimed) {
  auto found = statements_.claim.Execute(spi, group_, most, lease(), OldestReused(), MindLocks());
  claimed.more_changes = found.claimed.size() + found.answered.size() >= most;
  if (claimed.more_changes) {
    claimed.priority = found.lowest_priority;  // no higher one is left
  }
  claimed.usage.rows = claimed.usage.reused_chunks =
      static_cast<std::int64_t>(found.answered.size());
  answered_ = std::move(found.answered);
  for (LoadedRow& job : found.claimed) {
    unread_.push_back(job.tid);
    if (job.text) {
      loaded_.push_back(std::move(job));
    }
  }
}

/// Those that came with the claim; then others, with long texts one by one at the end.
pipeline::Step<std::vector<LoadedRow>> JobSource::Load(std::size_t bytes) {
  if (!loaded_.empty()) {
    unread_ = NotLoaded(unread_, loaded_);
    return std::exchange(loaded_, {});
  }
  return RunStep([&] {
    constexpr std::size_t kLong = std::size_t{256} << 10;
    std::vector<LoadedRow> jobs;
    std::vector<Tid> large;
    std::size_t total = 0;
    bool all = true;
    WorkTransaction transaction;
    {
      CheckFile(work_, work_file_);
      pg::Spi spi;
      statements_.load.Execute(spi, group_, unread_, lease(), kLong, [&](LoadedRow job) {
        if (job.text) {
          total += job.size;
          jobs.push_back(std::move(job));
        } else {
          large.push_back(job.tid);
        }
        return all = total < bytes;
      });
      for (const Tid& tid : large) {
        all = all && total < bytes;
        if (all) {
          statements_.load.Execute(spi, group_, std::span(&tid, 1), lease(),
                                   std::numeric_limits<std::int32_t>::max(), [&](LoadedRow job) {
                                     total += job.size;
                                     jobs.push_back(std::move(job));
                                     return true;
                                   });
        }
      }
    }
    transaction.Commit();
    unread_ = all ? std::vector<Tid>() : NotLoaded(unread_, jobs);
    return jobs;
  });
}

Result<RowPtr> JobSource::MakeChunks(const LoadedRow& job) const {
  auto row = std::make_shared<Row>();
  row->jobs = {{job.job, job.tid}};
  row->bytes = kOverhead + job.text->size() + dimensions() * sizeof(float);
  row->chunks.push_back({.text = *job.text, .hash = job.hash});
  row->waiting = 1;
  return row;
}

pipeline::Step<std::int64_t> JobSource::Reuse(std::span<const RowPtr> in_progress,
                                              std::vector<RowPtr>& rows) {
  std::map<policy::ContentHash, RowPtr> by_hash;
  for (const RowPtr& row : in_progress) {
    by_hash.emplace(row->chunks[0].hash, row);
  }
  return static_cast<std::int64_t>(std::erase_if(rows, [&](const RowPtr& row) {
    const auto [first, is_new] = by_hash.emplace(row->chunks[0].hash, row);
    if (!is_new) {
      first->second->jobs.push_back(row->jobs[0]);
    }
    return !is_new;
  }));
}

}  // namespace ai::worker
