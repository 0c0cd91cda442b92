// What workers and sessions know of each other because of jobs, in shared memory: who waits for
// which job, so that whoever ends it wakes those and nobody else; and how many sessions are
// changing jobs.
//
// A session notes what it waits for before it looks at the job; a worker looks who waits after its
// commit. So one of the two sees the other.
#pragma once

#include <span>

#include "worker/statements/job_group.hpp"

namespace ai::worker {

/// Asks for the shared memory. Called when the library is preloaded.
void InstallJobWaiters();

/// Wakes those who wait for one of these jobs of this process's database. After the commit.
void WakeJobWaiters(std::span<const Uuid> jobs) noexcept;

/// All who wait for a job of this process's database.
void WakeAllJobWaiters() noexcept;

/// The current transaction of a session changes jobs that a worker may have, and has them locked
/// until its end: workers take care of that meanwhile. Its commit wakes all who wait.
void NoteJobsChanging() noexcept;

/// Whether there is such a transaction, prepared ones apart.
bool JobsAreChanging() noexcept;

/// While it lives, this session's latch is set when the job ends.
class JobWaiter final {
 public:
  /// INVARIANT: the library was preloaded.
  explicit JobWaiter(const Uuid& job) noexcept;
  ~JobWaiter();
  JobWaiter(const JobWaiter&) = delete;
  JobWaiter& operator=(const JobWaiter&) = delete;
};

}  // namespace ai::worker
