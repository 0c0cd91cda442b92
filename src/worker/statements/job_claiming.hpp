// The statements by which a worker claims embedding jobs and loads their texts. They are the same
// for all jobs: role and configuration are arguments.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/job_group.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// Jobs whose time to be retried has come are pending again.
class RequeueDueJobs final {
 public:
  RequeueDueJobs();
  /// How many.
  std::size_t Execute(pg::Spi& spi, const JobGroup& group, std::size_t most);

 private:
  pg::Statement statement_;
};

/// Jobs that are pending, the highest priority first. Those whose text has a vector that is new
/// enough are completed by that.
class ClaimJobs final {
 public:
  ClaimJobs();

  struct Result {
    std::vector<pipeline::LoadedRow> claimed;  // with the text, unless it is long
    std::vector<Uuid> answered;                // are completed
    std::int32_t lowest_priority = 0;          // of these, if there are some
  };
  /// Jobs that somebody has locked are passed over if locks are minded, which costs; so it is for
  /// times when somebody may.
  Result Execute(pg::Spi& spi, const JobGroup& group, std::size_t most, const pg_uuid_t& lease,
                 TimestampTz oldest_vector, bool mind_locks);

 private:
  pg::Statement statement_;
  pg::Statement minding_locks_;
};

/// Jobs that a process has died with, whose time has come: those that one has, or that several have
/// (alone).
class ClaimSuspectJobs final {
 public:
  ClaimSuspectJobs();
  std::vector<Tid> Execute(pg::Spi& spi, const JobGroup& group, bool alone, std::size_t most,
                           const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// The texts of jobs that this process still has.
class LoadJobs final {
 public:
  LoadJobs();

  /// Is given each job; what it says to the last one of a part tells whether to go on.
  using Take = std::function<bool(pipeline::LoadedRow)>;

  /// A job whose text has more bytes than that comes without it.
  void Execute(pg::Spi& spi, const JobGroup& group, std::span<const Tid> tids,
               const pg_uuid_t& lease, std::size_t most_bytes, const Take& take);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
