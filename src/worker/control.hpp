// Where sessions meet the engine: what this process is, as SQL sees it, and commits by which an
// operator asks the coordinator for something.
#pragma once

namespace ai::worker {

void InstallControl();

}  // namespace ai::worker
