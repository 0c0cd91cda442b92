#include "worker/backlog.hpp"

#include <algorithm>

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/queue_notes.hpp"
#include "worker/ending.hpp"
#include "worker/extension.hpp"
#include "worker/owner_share.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {

using pipeline::PollRequest;
using pipeline::PollResult;
using pipeline::QueueId;
using pipeline::QueueReport;
using pipeline::Step;

namespace {

/// Vectorizers that are looked at in one transaction.
constexpr std::int32_t kSlice = 100;

std::optional<std::chrono::milliseconds> InMs(const pg::Rows& rows, std::uint64_t row, int column) {
  const auto count = rows.At(row, column);
  return count ? std::optional(RoundedUp(DatumGetFloat8(*count))) : std::nullopt;
}

pg::Argument Number(std::int64_t value) {
  return {INT8OID, Int64GetDatum(value)};
}

/// A vectorizer that was dropped meanwhile has no counters any more.
void AddUsageOfVectorizer(pg::Spi& spi, QueueId id, const std::string& lease,
                          const std::string& model, const pipeline::Usage& usage) {
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(lease)},
                                    {INT4OID, Int32GetDatum(id)},
                                    Number(usage.rows),
                                    {TEXTOID, pg::TextDatum(model)},
                                    Number(usage.requests),
                                    Number(usage.input_tokens),
                                    Number(usage.sent_chunks),
                                    Number(usage.reused_chunks),
                                    Number(usage.truncated_chunks)};
  if (usage.rows > 0) {
    spi.Execute(
        "SELECT ai._worker_progress($1::pg_catalog.uuid, v.id, $3, NULL) FROM ai.vectorizer v "
        "WHERE v.id OPERATOR(pg_catalog.=) $2",
        std::span(arguments, 3));
  }
  spi.Execute(
      "SELECT ai._worker_usage(v.id, $4, $5, $6, $3, $7, $8, $9) FROM ai.vectorizer v "
      "WHERE v.id OPERATOR(pg_catalog.=) $2",
      arguments);
}

void AddUsageOfJobs(pg::Spi& spi, const JobGroup& group, const std::string& model,
                    const pipeline::Usage& usage) {
  const pg::Argument arguments[] = {{OIDOID, ObjectIdGetDatum(group.role)},
                                    {TEXTOID, pg::TextDatum(model)},
                                    Number(usage.rows),
                                    Number(usage.requests),
                                    Number(usage.input_tokens),
                                    Number(usage.sent_chunks),
                                    Number(usage.reused_chunks),
                                    Number(usage.truncated_chunks)};
  spi.Execute("SELECT ai._embedding_job_count($1, $2, $3, $4, $5, $6, $7, $8)", arguments);
}

Datum Int4Array(std::span<const QueueId> ids) {
  std::vector<Datum> elements;
  for (const QueueId id : ids) {
    elements.push_back(Int32GetDatum(id));
  }
  return pg::ArrayDatum(INT4OID, elements);
}

Datum OidArray(std::span<const pipeline::QueueEvent> oids) {
  std::vector<Datum> elements;
  for (const pipeline::QueueEvent oid : oids) {
    elements.push_back(ObjectIdGetDatum(oid));
  }
  return pg::ArrayDatum(OIDOID, elements);
}

}  // namespace

namespace {

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

/// Runs body in a transaction. False if somebody has locked what it reads. Any other error is one
/// of the database, by which nothing could be done: it ends the process.
template <typename Body>
bool ReadUnlessLocked(const Body& body) {
  try {
    WorkTransaction transaction;
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

/// Who has locked the jobs holds up no vectorizer: they are looked for again with the next poll of
/// all.
Step<PollResult> DatabaseBacklog::Poll(const PollRequest& request) {
  PollResult result;
  if (!ReadUnlessLocked([&](pg::Spi& spi) { PollVectorizers(spi, request, result); })) {
    return pipeline::StepFailure(pipeline::StepTrouble::kTableLocked, "the catalog is locked");
  }
  if (AsksForJobs(request)) {
    ReadUnlessLocked([&](pg::Spi& spi) { PollJobs(spi, request.suspects, result); });
  }
  CountOwners(request, result);
  return result;
}

/// Whether there are several, a poll of all queues tells.
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

void DatabaseBacklog::PollVectorizers(pg::Spi& spi, const PollRequest& request,
                                      PollResult& result) {
  const bool all = !request.queues.has_value();
  const std::vector<QueueId> none;
  const pg::Argument arguments[] = {{BOOLOID, BoolGetDatum(request.whole)},
                                    {BOOLOID, BoolGetDatum(request.suspects)},
                                    {TEXTOID, pg::TextDatum(MyComponent())},
                                    {INT4ARRAYOID, Int4Array(all ? none : *request.queues), all},
                                    {OIDARRAYOID, OidArray(request.events), all},
                                    {INT4OID, Int32GetDatum(request.after)},
                                    {INT4OID, Int32GetDatum(kSlice)}};
  const pg::Rows rows = spi.Execute(
      "SELECT id, version, priority, first_change, retry_in_ms, whole, suspect_in_ms, "
      "pause_left_ms, owner, granted, queue FROM ai._look_for_work($1, $2, $3, $4, $5, $6, $7)",
      arguments);
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    QueueReport& report = result.queues.emplace_back();
    report.id = DatumGetInt32(*rows.At(i, 0));
    report.version = pg::Utf8View(*rows.At(i, 1));
    report.priority = DatumGetInt32(*rows.At(i, 2));
    if (const auto change = rows.At(i, 3)) {
      report.first_change = TidOf(pg::TidAt(*change));
    }
    report.retry_in = InMs(rows, i, 4);
    report.whole = DatumGetBool(*rows.At(i, 5));
    report.suspect_in = InMs(rows, i, 6);
    report.pause_left = InMs(rows, i, 7);
    report.owner = DatumGetObjectId(rows.At(i, 8).value_or(ObjectIdGetDatum(InvalidOid)));
    report.granted = DatumGetInt32(*rows.At(i, 9));
    tables_[report.id] = DatumGetObjectId(*rows.At(i, 10));
  }
  result.complete = !all || rows.count() < kSlice;
}

/// Those of jobs are queues while there is something to do.
void DatabaseBacklog::PollJobs(pg::Spi& spi, bool suspects, PollResult& result) {
  const pg::Argument arguments[] = {{BOOLOID, BoolGetDatum(suspects)}};
  const pg::Rows rows = spi.Execute(
      "SELECT created_by, config_key, priority, retry_in_ms, suspect_in_ms "
      "FROM ai._look_for_jobs($1)",
      arguments);
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    QueueReport& report = result.queues.emplace_back();
    const JobGroup group{DatumGetObjectId(*rows.At(i, 0)), UuidAt(*rows.At(i, 1))};
    report.id = IdOf(group);
    report.owner = group.role;
    if (const auto priority = rows.At(i, 2)) {
      report.first_change = Tid{};
      report.priority = report.granted = DatumGetInt32(*priority);
    }
    report.retry_in = InMs(rows, i, 3);
    report.suspect_in = InMs(rows, i, 4);
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
    const Oid vector = pg::VectorType();
    job_statements_ =
        std::make_unique<JobStatements>(pg::Call([&] { return get_array_type(vector); }));
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

/// Jobs have ai.provider_status for it.
Step<> DatabaseBacklog::RecordOpenBreaker(QueueId queue, const pipeline::Opening& opening) {
  return RunStep([&] {
    if (queue > 0) {
      worker::RecordOpenBreaker(queue, lease_, opening);
    }
  });
}

/// What is wrong with the configuration, for those who look at their jobs: the ones next in the
/// line tell it.
void DatabaseBacklog::NoteJobError(const JobGroup& group, const Failure& failure) {
  if (job_statements_ == nullptr) {
    return;
  }
  WorkTransaction transaction;
  {
    pg::Spi spi;
    job_statements_->note.Execute(spi,
                                  {ObjectIdGetDatum(group.role), UuidDatum(group.config),
                                   pg::MessageDatum(utf8::Clip(failure.message, kMostMessage))});
  }
  transaction.Commit();
}

}  // namespace ai::worker
