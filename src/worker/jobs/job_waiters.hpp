// Shared memory about jobs: which session waits for which job, so that only those are woken when it
// ends; and how many sessions are changing jobs.
//
// A session records what it waits for before it reads the job; a worker checks for waiters after
// its commit. So one of the two sees the other.
#pragma once

#include <span>

#include "worker/statements/job_group.hpp"

namespace ai::worker {

/// Requests the shared memory. Called when the library is preloaded.
void InstallJobWaiters();

/// Wakes the sessions waiting for one of these jobs of this process's database. Call after the
/// commit.
void WakeJobWaiters(std::span<const Uuid> jobs) noexcept;

/// Wakes all sessions waiting for a job of this process's database.
void WakeAllJobWaiters() noexcept;

/// The current transaction changes jobs that a worker may hold, and locks them until its end:
/// workers skip locked jobs meanwhile. Its commit wakes all waiters.
void NoteJobsChanging() noexcept;

/// Whether there is such a transaction, except for prepared ones.
bool JobsAreChanging() noexcept;

/// During its lifetime, this session's latch is set when the job ends.
class JobWaiter final {
 public:
  /// INVARIANT: the library was preloaded.
  explicit JobWaiter(const Uuid& job) noexcept;
  ~JobWaiter();
  JobWaiter(const JobWaiter&) = delete;
  JobWaiter& operator=(const JobWaiter&) = delete;
};

}  // namespace ai::worker
