// Maintenance that a coordinator does in its database: reclaims the rows of workers that have
// exited and prunes history. Each step is a short transaction of its own; a failure is logged, once
// while it keeps failing, and does not stop the other steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/process/process.hpp"

namespace ai::worker {

/// Rows of a vectorizer, or jobs, that a process held when it crashed.
struct Reclaimed {
  std::int32_t vectorizer;  // 0: jobs
  std::string name;         // of the vectorizer
  std::string process;      // its id
};

/// Attributes a worker's crash to the rows it held. A vectorizer that causes too many crashes is
/// paused, suspect jobs are quarantined for as long; both are logged.
void Blame(const Reclaimed& reclaimed, const std::string& component);

/// When work is next due according to the tables: pending rows or jobs are due now. Nothing if only
/// an event can bring work.
std::optional<SteadyTime> FindDue(SteadyTime now);

class Housekeeping final {
 public:
  /// Reclaims the rows and jobs of all processes but the live ones; dead are those that have just
  /// crashed. Both are ids of worker processes, as the text of a uuid[].
  std::vector<Reclaimed> ReclaimRows(const std::string& live, const std::string& dead);

  /// Prunes records of exited worker processes, pauses, samples and finished jobs, a limited number
  /// per call.
  void PruneHistory(const std::string& live);

 private:
  RecurringError rows_{"reclaim rows of exited worker processes"};
  RecurringError jobs_{"reclaim embedding jobs of exited worker processes"};
  RecurringError old_processes_{"prune records of worker processes"};
  RecurringError old_samples_{"prune pauses and samples"};
  RecurringError old_jobs_{"prune finished embedding jobs"};
};

}  // namespace ai::worker
