// All statements that a worker runs on ai.embedding_jobs; the same for all jobs.
#pragma once

#include "worker/statements/job_claiming.hpp"
#include "worker/statements/job_ending.hpp"
#include "worker/statements/job_storing.hpp"

namespace ai::worker {

struct JobStatements {
  explicit JobStatements(const VectorTypes& types) : store(types) {}

  RequeueDueJobs requeue_due;
  ClaimJobs claim;
  ClaimSuspectJobs claim_suspects;
  LoadJobs load;
  StoreJobs store;
  ReleaseJobs release;
  ReleaseAllJobs release_all;
  FailJobs fail;
  FindHeldJobs find_held;
  NoteOnJobs note;
};

}  // namespace ai::worker
