// The jobs of a role with one embedding configuration, as a source of the pipeline. Like rows of a
// vectorizer they are claimed with a lease, and written only by the process that holds it; unlike
// those, each has a priority, and jobs with the same text share one request.
//
// A job is identified by its id. One that a user has locked (to cancel it) is skipped and released
// later, if this worker still holds it then.
#pragma once

#include "pg/error.hpp"
#include "worker/jobs/job_waiters.hpp"
#include "worker/statements/job_group.hpp"
#include "worker/statements/job_statements.hpp"
#include "worker/vectorizer/embedding_source.hpp"

namespace ai::worker {

/// The configuration of a group, as JSON; nothing if it has no running or pending job.
std::optional<std::string> FindJobConfig(pg::Spi& spi, const JobGroup& group);

class JobSource final : public EmbeddingSource {
 public:
  /// Throws ai::Error if the configuration cannot be used. The statements outlive this.
  JobSource(const JobGroup& group, std::string_view config, JobStatements& statements,
            const SourceContext& context);

  const json::Value embedding() const override { return document_.root(); }

  pipeline::Step<pipeline::Claimed> Claim(const pipeline::ClaimRequest& request) override;
  pipeline::Step<std::vector<pipeline::LoadedRow>> Load(std::size_t bytes) override;
  pipeline::Step<> ReleaseUnread(std::size_t keep) override;
  Result<pipeline::RowPtr> MakeChunks(const pipeline::LoadedRow& row) const override;
  /// Jobs with a text that is already in progress are attached to it.
  pipeline::Step<std::int64_t> Reuse(std::span<const pipeline::RowPtr> in_progress,
                                     std::vector<pipeline::RowPtr>& rows) override;
  pipeline::Step<pipeline::Stored> Store(std::span<const pipeline::RowPtr> rows) override;
  pipeline::Step<bool> IsGone(const pipeline::RowPtr& row) override;
  pipeline::Step<std::vector<pipeline::RowPtr>> StillHeld(
      std::span<const pipeline::RowPtr> rows) override;
  pipeline::Step<> Release(std::span<const pipeline::RowPtr> rows,
                           std::chrono::milliseconds delay) override;
  pipeline::Step<> ReleaseAll() override;
  bool HasUnreleased() const override { return !unreleased_.empty(); }
  pipeline::Step<> Retry(std::span<const pipeline::RowPtr> rows, std::string_view step,
                         const Failure& failure) override;
  pipeline::Step<> DeadLetter(std::span<const pipeline::RowPtr> rows, std::string_view step,
                              const Failure& failure) override;

 private:
  /// Whether a user may have locked some of the jobs.
  bool MindLocks() const { return met_lock_ || JobsAreChanging(); }
  /// Runs body; once it has met a lock, statements skip locked jobs.
  template <typename Body>
  void WatchForLocks(const Body& body);
  void ClaimSuspects(pg::Spi& spi, pipeline::Claimed& claimed);
  void ClaimPending(pg::Spi& spi, std::size_t most, pipeline::Claimed& claimed);
  void ReleaseLocked(pg::Spi& spi);
  void NoteLocked(pg::Spi& spi, std::vector<pipeline::Uuid> jobs,
                  std::span<const pipeline::Uuid> ended);
  void Fail(std::span<const pipeline::RowPtr> rows, std::string_view step, const Failure& failure,
            bool final);

  JobGroup group_;
  json::Document document_;
  JobStatements& statements_;
  Oid work_ = InvalidOid;                    // the table
  Oid work_file_ = InvalidOid;               // tids are valid while it is the same
  std::vector<pipeline::LoadedRow> loaded_;  // unread ones, loaded with the claim
  std::vector<pipeline::Uuid> answered_;     // by the claim: their text already has a vector
  std::vector<pipeline::Uuid> unreleased_;   // were locked when they were to be released
  bool alone_last_ = false;                  // the last suspect claimed was a single one
  bool met_lock_ = false;                    // an unannounced lock
};

template <typename Body>
void JobSource::WatchForLocks(const Body& body) {
  try {
    body();
  } catch (const pg::Error& error) {
    met_lock_ = met_lock_ || pg::MeetsLock(error);
    throw;
  }
}

}  // namespace ai::worker
