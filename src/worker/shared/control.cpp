// INVARIANT: nothing in this file owns C++ memory, so an ereport may pass through all of it.
#include "worker/shared/control.hpp"

#include "pg/postgres.hpp"
#include "worker/shared/wake.hpp"

namespace ai::worker {

namespace {

bool requested = false;  // by the current transaction

void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) {
    return;
  }
  if (requested && event == XACT_EVENT_COMMIT) {
    WakeCoordinator();
  }
  requested = false;
}

}  // namespace

void AskCoordinator() {
  requested = true;
}

void InstallControl() {
  RegisterXactCallback(OnTransactionEnd, nullptr);
}

}  // namespace ai::worker
