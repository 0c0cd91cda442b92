// The statements by which a worker adds to the usage counters.
#pragma once

#include "core/pipeline/usage.hpp"
#include "pg/spi.hpp"
#include "worker/statements/job_group.hpp"

namespace ai::worker {

/// Does nothing for a vectorizer that was dropped meanwhile.
void AddUsageOfVectorizer(pg::Spi& spi, std::int32_t id, const std::string& lease,
                          const std::string& model, const pipeline::Usage& usage);

void AddUsageOfJobs(pg::Spi& spi, const JobGroup& group, const std::string& model,
                    const pipeline::Usage& usage);

}  // namespace ai::worker
