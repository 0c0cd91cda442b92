// The indexer: builds the vector indexes of one vectorizer, then exits.
#pragma once

#include <cstdint>
#include <string>

namespace ai::worker {

/// Records in the vectorizer's errors why there is no index.
void RecordIndexError(std::int32_t vectorizer, const std::string& message);

}  // namespace ai::worker
