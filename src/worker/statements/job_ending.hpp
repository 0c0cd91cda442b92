// The statements by which a worker ends its leases on embedding jobs. Nothing happens to a job that
// another process has by now, or that was cancelled; and one that somebody has locked is passed
// over.
#pragma once

#include <chrono>

#include "core/failure.hpp"
#include "pg/statement.hpp"
#include "worker/statements/job_group.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// Uncharged: others may have the jobs after the delay.
class ReleaseJobs final {
 public:
  ReleaseJobs();
  /// Those that were released.
  std::vector<Uuid> Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease,
                            std::chrono::milliseconds delay);

 private:
  pg::Statement statement_;
};

/// All that this process has of a group.
class ReleaseAllJobs final {
 public:
  ReleaseAllJobs();
  void Execute(pg::Spi& spi, const JobGroup& group, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Charged with an attempt: they are retried after the delay, or dead letters if that was the last.
class FailJobs final {
 public:
  FailJobs();

  struct Result {
    std::vector<Uuid> ended;
    std::vector<Uuid> dead_letters;  // of these
  };
  /// If it is final, that was the last attempt, whatever their number.
  Result Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease,
                 std::chrono::milliseconds delay, std::string_view step, const Failure& failure,
                 bool final);

 private:
  pg::Statement statement_;
};

/// Which jobs this process still has.
class FindHeldJobs final {
 public:
  FindHeldJobs();
  std::vector<Uuid> Execute(pg::Spi& spi, std::span<const Uuid> jobs, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Gives a message to the jobs that are next in the line.
class NoteOnJobs final {
 public:
  NoteOnJobs();
  void Execute(pg::Spi& spi, const JobGroup& group, const Failure& failure);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
