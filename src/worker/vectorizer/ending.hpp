// What ends without a row: an error of a vectorizer as a whole.
#pragma once

#include "core/failure.hpp"
#include "core/pipeline/limiter.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

/// That a breaker keeps its requests from going: recorded once for each opening, not logged.
void RecordOpenBreaker(std::int32_t vectorizer, const std::string& lease,
                       const pipeline::Opening& opening);

void RecordError(std::int32_t vectorizer, const std::string& lease, std::string_view step,
                 const Failure& failure);

}  // namespace ai::worker
