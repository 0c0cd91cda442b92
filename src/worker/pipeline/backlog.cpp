#include "worker/pipeline/backlog.hpp"

#include <algorithm>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/queue/queue_notes.hpp"
#include "worker/process/extension.hpp"
#include "worker/shared/owner_share.hpp"
#include "worker/statements/usage.hpp"
#include "worker/vectorizer/ending.hpp"
#include "worker/vectorizer/vectorizer.hpp"

namespace ai::worker {

using pipeline::PollRequest;
using pipeline::PollResult;
using pipeline::QueueId;
using pipeline::QueueReport;
using pipeline::Step;

namespace {

/// The remaining pause of this worker, in milliseconds.
std::optional<double> PauseLeft(pg::Spi& spi) {
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(MyComponent())}};
  const pg::Rows rows = spi.Execute("SELECT ai._pause_left($1, 0) AS left_ms", arguments);
  return pg::Float8Column(rows, "left_ms").Find(0);
}

bool AsksForJobs(const PollRequest& request) {
  if (request.whole) {
    return false;
  }
  if (!request.queues) {
    return request.after == 0;
  }
  const auto is_jobs = [](QueueId id) { return id < 0; };
  return std::any_of(request.queues->begin(), request.queues->end(), is_jobs) ||
         std::find(request.events.begin(), request.events.end(), pg::kJobs) != request.events.end();
}

/// Runs body in a transaction. False if what it reads is locked: the table, for which it does not
/// wait, or something else. Any other error is one of the database and ends the process.
template <typename Body>
bool ReadUnlessLocked(const char* table, const Body& body) {
  try {
    WorkTransaction transaction;
    const bool is_free = pg::Call([table] {
      return ConditionalLockRelationOid(get_relname_relid(table, get_namespace_oid("ai", false)),
                                        AccessShareLock);
    });
    if (!is_free) {
      return false;
    }
    {
      pg::Spi spi;
      body(spi);
    }
    transaction.Commit();
    return true;
  } catch (const pg::Error& error) {
    if (!pg::MeetsLock(error)) {
      throw;
    }
    return false;
  }
}

}  // namespace

/// A lock on the jobs holds up no vectorizer, and vice versa: the next full poll checks again.
PollResult DatabaseBacklog::Poll(const PollRequest& request) {
  PollResult result;
  if (!ReadUnlessLocked("vectorizer",
                        [&](pg::Spi& spi) { vectorizers_.Run(spi, request, result, tables_); })) {
    result = {.locked = true, .named = KnownOf(request.events)};
  }
  if (AsksForJobs(request)) {
    ReadUnlessLocked("embedding_jobs",
                     [&](pg::Spi& spi) { PollJobs(spi, request.suspects, result); });
  }
  if (!result.locked) {
    CountOwners(request, result);
  }
  return result;
}

std::vector<QueueId> DatabaseBacklog::KnownOf(std::span<const pipeline::QueueEvent> events) const {
  std::vector<QueueId> known;
  for (const auto& [id, table] : tables_) {
    if (std::find(events.begin(), events.end(), table) != events.end()) {
      known.push_back(id);
    }
  }
  return known;
}

/// A full poll shows whether there are several owners.
void DatabaseBacklog::CountOwners(const PollRequest& request, const PollResult& result) {
  if (request.queues || request.whole) {
    return;
  }
  if (request.after == 0) {
    several_owners_ = false;
    first_owner_ = result.queues.empty() ? InvalidOid : result.queues.front().owner;
  }
  several_owners_ = several_owners_ ||
                    std::any_of(result.queues.begin(), result.queues.end(),
                                [this](const auto& queue) { return queue.owner != first_owner_; });
  if (result.complete) {
    SetSeveralOwners(several_owners_);
  }
}

/// Groups of jobs are queues while they have work.
void DatabaseBacklog::PollJobs(pg::Spi& spi, bool suspects, PollResult& result) {
  const pg::Argument arguments[] = {{BOOLOID, BoolGetDatum(suspects)}};
  const auto pause_left = RoundedUp(PauseLeft(spi));
  const pg::Rows rows = spi.Execute(
      "SELECT created_by, config_key, priority, retry_in_ms, suspect_in_ms "
      "FROM ai._poll_jobs($1)",
      arguments);
  const pg::OidColumn role(rows, "created_by");
  const UuidColumn config(rows, "config_key");
  const pg::Int4Column priority(rows, "priority");
  const pg::Float8Column retry_in(rows, "retry_in_ms"), suspect_in(rows, "suspect_in_ms");
  if (pause_left) {
    // Also report groups of which this worker has claimed all jobs.
    for (const auto& [group, id] : groups_) {
      result.queues.push_back({.id = id, .owner = group.role, .pause_left = pause_left});
    }
  }
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    QueueReport& report = result.queues.emplace_back();
    report.id = IdOf({role[i], config[i]});
    report.owner = role[i];
    if (const auto highest = priority.Find(i)) {
      report.first_change = Tid{};
      report.priority = report.granted = *highest;
    }
    report.retry_in = RoundedUp(retry_in.Find(i));
    report.suspect_in = RoundedUp(suspect_in.Find(i));
    report.pause_left = pause_left;
  }
}

QueueId DatabaseBacklog::IdOf(const JobGroup& group) {
  const auto [entry, is_new] = groups_.try_emplace(group, last_group_ - 1);
  last_group_ -= is_new ? 1 : 0;
  return entry->second;
}

const JobGroup& DatabaseBacklog::GroupOf(QueueId queue) const {
  return std::find_if(groups_.begin(), groups_.end(),
                      [queue](const auto& entry) { return entry.second == queue; })
      ->first;
}

void DatabaseBacklog::Closed(QueueId queue) {
  tables_.erase(queue);
  std::erase_if(groups_, [queue](const auto& entry) { return entry.second == queue; });
}

Step<std::unique_ptr<pipeline::Source>> DatabaseBacklog::Open(QueueId queue) {
  return RunStep([&] {
    std::unique_ptr<pipeline::Source> source;
    WorkTransaction transaction;
    {
      pg::Spi spi;
      source = queue < 0 ? OpenJobs(spi, GroupOf(queue))
                         : std::make_unique<Vectorizer>(spi, queue, context_);
    }
    transaction.Commit();
    return source;
  });
}

std::unique_ptr<pipeline::Source> DatabaseBacklog::OpenJobs(pg::Spi& spi, const JobGroup& group) {
  const std::optional<std::string> config = FindJobConfig(spi, group);
  if (!config) {
    return nullptr;
  }
  if (job_statements_ == nullptr) {
    job_statements_ = std::make_unique<JobStatements>(VectorTypes(pg::VectorType()));
  }
  return std::make_unique<JobSource>(group, *config, *job_statements_, context_);
}

Step<> DatabaseBacklog::AddUsage(QueueId queue, const std::string& model,
                                 const pipeline::Usage& usage) {
  return RunStep([&] {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      if (queue < 0) {
        AddUsageOfJobs(spi, GroupOf(queue), model, usage);
      } else {
        AddUsageOfVectorizer(spi, queue, lease_, model, usage);
      }
    }
    transaction.Commit();
  });
}

Step<> DatabaseBacklog::RecordError(QueueId queue, std::string_view step, const Failure& failure) {
  return RunStep([&] {
    if (queue < 0) {
      NoteJobError(GroupOf(queue), failure);
    } else {
      worker::RecordError(queue, lease_, step, failure);
    }
  });
}

/// For jobs, ai.provider_status shows it.
Step<> DatabaseBacklog::RecordOpenBreaker(QueueId queue, const pipeline::Opening& opening) {
  return RunStep([&] {
    if (queue > 0) {
      worker::RecordOpenBreaker(queue, lease_, opening);
    }
  });
}

/// Records a configuration error with the jobs that are next in the queue, for their users.
void DatabaseBacklog::NoteJobError(const JobGroup& group, const Failure& failure) {
  if (job_statements_ == nullptr) {
    return;
  }
  WorkTransaction transaction;
  {
    pg::Spi spi;
    job_statements_->note.Execute(spi, group, failure);
  }
  transaction.Commit();
}

}  // namespace ai::worker
