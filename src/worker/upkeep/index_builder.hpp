// The process that builds the vector indexes of one vectorizer, and ends.
#pragma once

#include <cstdint>
#include <string>

namespace ai::worker {

/// Notes in the vectorizer's errors why there is no index.
void RecordIndexError(std::int32_t vectorizer, const std::string& message);

}  // namespace ai::worker
