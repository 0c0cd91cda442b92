// What a worker runs on ai.embedding_jobs. The same for all jobs: role and configuration are
// arguments.
#pragma once

#include "pg/statement.hpp"

namespace ai::worker {

struct JobStatements {
  explicit JobStatements(Oid vector_array);

  /// role, config, most: those whose time has come are pending again.
  pg::Statement due;
  /// role, config, most, lease, version, the oldest vector to use again: place, id, hash, bytes,
  /// text unless it is long, whether the job is completed by that, nothing, priority; the highest
  /// first. The second one passes over what somebody has locked, which costs; so it is for times
  /// when somebody may.
  pg::Statement claim, claim_unlocked;
  /// role, config, whether two processes have died with it, most, lease, version: places.
  pg::Statement suspects;
  /// places, lease, role, config, the most bytes of a text: place, id, hash, bytes, text unless it
  /// is longer.
  pg::Statement read;
  /// ids, places, vectors, lease, dimensions, now: ids of those that were completed. The second one
  /// as above.
  pg::Statement store, store_unlocked;
  /// ids, lease, delay: ids.
  pg::Statement give_back;
  /// role, config, lease.
  pg::Statement give_back_all;
  /// ids, lease, delay, message, step, class, whether that was the last attempt whatever their
  /// number: id, and whether it is given up.
  pg::Statement fail;
  /// ids, lease: ids that this worker still has.
  pg::Statement held;
  /// role, config, message: for those that are next in the line.
  pg::Statement note;
};

}  // namespace ai::worker
