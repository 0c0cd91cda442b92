// From a row that was read to chunks that have to be embedded. No transaction is open: a text may
// be long.
#pragma once

#include "worker/lane.hpp"
#include "worker/take.hpp"

namespace ai::worker {

/// Cuts, formats and compares with what the target has. Throws ai::Error if the text cannot be cut.
RowPtr CutRow(const Vectorizer& vectorizer, const Read& read);

}  // namespace ai::worker
