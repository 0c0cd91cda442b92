// What a coordinator does for the tables of its database: releases the rows of workers that are
// gone, and keeps histories short. Each step is a short transaction of its own, and one that fails
// is logged, once if it fails again and again, and does not stop the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/process/process.hpp"

namespace ai::worker {

/// Rows that a process had of a vectorizer when it died, or jobs.
struct Reclaimed {
  std::int32_t vectorizer;  // 0: jobs
  std::string name;         // of the vectorizer
  std::string process;      // its id
};

/// Charges the death of a worker's process to what it had. A vectorizer that causes too many is
/// paused, jobs that may are set aside for as long; both is logged.
void Blame(const Reclaimed& reclaimed, const std::string& component);

/// When there is something to do next, by the tables: rows or jobs that wait are due now. Nothing
/// if only an event can bring something.
std::optional<SteadyTime> FindDue(SteadyTime now);

class Housekeeping final {
 public:
  /// Releases the rows and jobs of all processes but the live ones; dead are those that have just
  /// died by themselves. Both are ids of worker processes, as the text of a uuid[].
  std::vector<Reclaimed> ReclaimRows(const std::string& live, const std::string& dead);

  /// Removes old rows about worker processes that are gone, pauses, samples and jobs, some of them
  /// each time.
  void PruneHistory(const std::string& live);

 private:
  RecurringError rows_{"release the rows of worker processes that are gone"};
  RecurringError jobs_{"release the jobs of worker processes that are gone"};
  RecurringError old_processes_{"remove old rows about worker processes"};
  RecurringError old_samples_{"remove old pauses and samples"};
  RecurringError old_jobs_{"remove old embedding jobs"};
};

}  // namespace ai::worker
