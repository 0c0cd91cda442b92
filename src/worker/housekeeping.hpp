// What a coordinator does for the tables of its database: gives back the rows of workers that are
// gone, and keeps histories short. Each step is a short transaction of its own, and one that fails
// is logged and does not stop the others.
#pragma once

#include <string>

namespace ai::worker {

/// Gives back the rows and jobs of all processes but these: ids of worker processes, as the text of
/// a uuid[]. Returns whether there were any.
bool ReclaimRows(const std::string& live);

/// Removes old rows about worker processes that are gone, old errors and old jobs, some of them
/// each time.
void PruneHistory(const std::string& live);

}  // namespace ai::worker
