// The statements by which a worker claims embedding jobs and loads their texts. They are the same
// for all jobs: role and configuration are arguments.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/job_group.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// Makes jobs that are due for a retry pending again.
class RequeueDueJobs final {
 public:
  RequeueDueJobs();
  /// How many.
  std::size_t Execute(pg::Spi& spi, const JobGroup& group, std::size_t most);

 private:
  pg::Statement statement_;
};

/// Claims pending jobs, highest priority first. Those whose text has a recent enough vector are
/// completed with it.
class ClaimJobs final {
 public:
  ClaimJobs();

  struct Result {
    std::vector<pipeline::LoadedRow> claimed;  // with the text, unless it is long
    std::vector<Uuid> answered;                // completed immediately
    std::int32_t lowest_priority = 0;          // of these, if any
  };
  /// Skips locked jobs if asked to, which costs; so only when jobs may be locked.
  Result Execute(pg::Spi& spi, const JobGroup& group, std::size_t most, const pg_uuid_t& lease,
                 TimestampTz oldest_vector, bool mind_locks);

 private:
  pg::Statement statement_;
  pg::Statement minding_locks_;
};

/// Claims suspects that are due: jobs that one process crashed with, or one that several crashed
/// with (alone).
class ClaimSuspectJobs final {
 public:
  ClaimSuspectJobs();
  std::vector<Tid> Execute(pg::Spi& spi, const JobGroup& group, bool alone, std::size_t most,
                           const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Loads the texts of jobs that this process still holds.
class LoadJobs final {
 public:
  LoadJobs();

  /// Called for each job; its result for the last one of a part tells whether to continue.
  using Take = std::function<bool(pipeline::LoadedRow)>;

  /// A longer text than this is not loaded.
  void Execute(pg::Spi& spi, const JobGroup& group, std::span<const Tid> tids,
               const pg_uuid_t& lease, std::size_t most_bytes, const Take& take);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
