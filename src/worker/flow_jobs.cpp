// See flow.hpp: lanes of jobs. Those of vectorizers are there as long as the vectorizer; those of
// jobs while there is something to do.
#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/ending.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"

namespace ai::worker {

Lane& Flow::LaneOf(const JobGroup& group) {
  const auto [entry, is_new] = groups_.try_emplace(group, last_group_ - 1);
  if (is_new) {
    --last_group_;
  }
  Lane& lane = lanes_[entry->second];
  lane.id = entry->second;
  lane.jobs = group;
  lane.owner = group.role;
  return lane;
}

void Flow::LookForJobs(pg::Spi& spi, bool suspects) {
  const SteadyTime now = clock_.Now();
  for (auto& [id, lane] : lanes_) {
    if (lane.jobs) {
      lane.changes = false;
      lane.next_retry = lane.strays.empty() ? std::nullopt : std::optional(lane.retries_after);
      lane.next_suspect.reset();
      lane.paused_until = {};  // if this worker is paused, the claim tells
    }
  }
  const pg::Argument arguments[] = {{BOOLOID, BoolGetDatum(suspects)}};
  const pg::Rows rows = spi.Execute(
      "SELECT created_by, config_key, priority, retry_in_ms, suspect_in_ms "
      "FROM ai._look_for_jobs($1)",
      arguments);
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    Lane& lane = LaneOf({DatumGetObjectId(*rows.At(i, 0)), UuidAt(*rows.At(i, 1))});
    if (const auto priority = rows.At(i, 2)) {
      lane.changes = true;
      lane.priority = lane.granted = DatumGetInt32(*priority);
    }
    if (const auto retry = rows.At(i, 3)) {
      const SteadyTime due = std::max(now + RoundedUp(DatumGetFloat8(*retry)), lane.retries_after);
      lane.next_retry = std::min(lane.next_retry.value_or(due), due);
    }
    if (const auto suspect = rows.At(i, 4)) {
      lane.next_suspect = now + RoundedUp(DatumGetFloat8(*suspect));
    }
  }
}

void Flow::ForgetIdleJobs() {
  std::erase_if(groups_, [this](const auto& group) {
    const auto found = lanes_.find(group.second);
    const Lane& lane = found->second;
    const bool has_more = lane.changes || lane.next_retry || lane.next_suspect || lane.owes_rows;
    if (has_more || lane.usage != Usage() || !lane.idle() || !lane.strays.empty() ||
        isolated_ == &lane) {
      return false;
    }
    lanes_.erase(found);
    return true;
  });
}

/// Leaves the lane without a source if there is nothing left to do.
void Flow::LoadJobs(Lane& lane, pg::Spi& spi) {
  const std::optional<std::string> config = FindJobConfig(spi, *lane.jobs);
  if (!config) {
    lane.changes = lane.owes_rows = false;
    lane.next_retry.reset();
    lane.next_suspect.reset();
    return;
  }
  if (job_statements_ == nullptr) {
    const Oid vector = pg::VectorType();
    job_statements_ =
        std::make_unique<JobStatements>(pg::Call([&] { return get_array_type(vector); }));
  }
  lane.vectorizer = std::make_unique<JobSource>(*lane.jobs, *config, *job_statements_);
}

/// What is wrong with the configuration, for those who look at their jobs: the ones next in the
/// line tell it.
void Flow::NoteJobError(Lane& lane, const Failure& failure) {
  if (job_statements_ == nullptr) {
    return;
  }
  WorkTransaction transaction;
  {
    pg::Spi spi;
    job_statements_->note.Execute(spi,
                                  {ObjectIdGetDatum(lane.jobs->role), UuidDatum(lane.jobs->config),
                                   pg::MessageDatum(utf8::Clip(failure.message, kMostMessage))});
  }
  transaction.Commit();
}

}  // namespace ai::worker
