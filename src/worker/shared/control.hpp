// Transactions in which an administrator requests something of the coordinator.
#pragma once

namespace ai::worker {

void InstallControl();

/// Wakes the coordinator when this transaction commits.
void AskCoordinator();

}  // namespace ai::worker
