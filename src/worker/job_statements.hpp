// What a worker runs on ai.embedding_jobs. The same for all jobs: role and configuration are
// arguments.
#pragma once

#include "pg/statement.hpp"

namespace ai::worker {

struct JobStatements {
  explicit JobStatements(Oid vector_array);

  pg::Statement due;        // role, config, most: those that are due for another try are pending
  pg::Statement claim;      // role, config, most, lease, version: places in the order of priority
  pg::Statement reuse;      // places, role, config: place and id of those that have a vector now
  pg::Statement read;       // places, lease, role, config: place, id, hash, text
  pg::Statement store;      // ids, vectors, lease, dimensions: ids of those that were completed
  pg::Statement give_back;  // ids, lease, delay: ids
  pg::Statement give_back_all;  // role, config, lease
  pg::Statement fail;  // ids, lease, delay, message, step, class, final: ids, given up or not
  pg::Statement held;  // ids, lease: ids that this worker still has
  pg::Statement note;  // role, config, message: for those that are next in the line
};

}  // namespace ai::worker
