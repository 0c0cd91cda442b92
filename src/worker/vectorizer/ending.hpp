// Errors of a vectorizer as a whole.
#pragma once

#include "core/failure.hpp"
#include "core/pipeline/limiter.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

/// Records that an open breaker holds back its requests: once per opening, not logged.
void RecordOpenBreaker(std::int32_t vectorizer, const std::string& lease,
                       const pipeline::Opening& opening);

void RecordError(std::int32_t vectorizer, const std::string& lease, std::string_view step,
                 const Failure& failure);

}  // namespace ai::worker
