// The statements by which a worker ends its leases on embedding jobs. They skip jobs that another
// process has claimed since, that were cancelled, or that are locked.
#pragma once

#include <chrono>

#include "core/failure.hpp"
#include "pg/statement.hpp"
#include "worker/statements/job_group.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// Releases jobs uncharged: others may claim them after the delay.
class ReleaseJobs final {
 public:
  ReleaseJobs();
  /// Those that were released.
  std::vector<Uuid> Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease,
                            std::chrono::milliseconds delay);

 private:
  pg::Statement statement_;
};

/// Releases all jobs of a group that this process holds.
class ReleaseAllJobs final {
 public:
  ReleaseAllJobs();
  void Execute(pg::Spi& spi, const JobGroup& group, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Charges an attempt: the jobs are retried after the delay, or become dead letters if none is
/// left.
class FailJobs final {
 public:
  FailJobs();

  struct Result {
    std::vector<Uuid> ended;
    std::vector<Uuid> dead_letters;  // of these
  };
  /// If final, there is no further attempt, whatever their number.
  Result Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease,
                 std::chrono::milliseconds delay, std::string_view step, const Failure& failure,
                 bool final);

 private:
  pg::Statement statement_;
};

/// The jobs that this process still holds.
class FindHeldJobs final {
 public:
  FindHeldJobs();
  std::vector<Uuid> Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Sets an error message on the jobs that are next in the queue.
class NoteOnJobs final {
 public:
  NoteOnJobs();
  void Execute(pg::Spi& spi, const JobGroup& group, const Failure& failure);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
