// The statement by which a worker writes the vectors of embedding jobs, which ends its leases on
// them.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/job_group.hpp"
#include "worker/statements/names.hpp"

namespace ai::worker {

/// Completes jobs with their vectors.
class StoreJobs final {
 public:
  explicit StoreJobs(const VectorTypes& types);
  /// Returns those that were completed. Waits for locked jobs unless told to skip them.
  std::vector<Uuid> Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows,
                            const pg_uuid_t& lease, std::size_t dimensions, bool mind_locks);

 private:
  pg::Statement statement_;
  pg::Statement minding_locks_;
  Oid vector_type_;
};

}  // namespace ai::worker
