// Commits by which an operator asks the coordinator for something.
#pragma once

namespace ai::worker {

void InstallControl();

/// The coordinator is woken when this transaction commits.
void AskCoordinator();

}  // namespace ai::worker
