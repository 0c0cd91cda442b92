// INVARIANT: nothing in this file owns C++ memory, so an ereport may pass through all of it.
#include "worker/control.hpp"

#include "pg/guard.hpp"
#include "worker/process.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

namespace {

bool asked = false;  // by the current transaction

void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) {
    return;
  }
  if (asked && event == XACT_EVENT_COMMIT) {
    WakeCoordinator();
  }
  asked = false;
}

}  // namespace

void InstallControl() {
  RegisterXactCallback(OnTransactionEnd, nullptr);
}

}  // namespace ai::worker

// The component that this process is. A session is none; but inside a function of the API, which
// has taken the rights of the extension's owner, it acts for a person who may do that.
AI_FUNCTION(ai_process_role) {
  if (const char* component = ai::worker::MyComponent(); component != nullptr) {
    PG_RETURN_TEXT_P(cstring_to_text(component));
  }
  if (InLocalUserIdChange()) {
    PG_RETURN_TEXT_P(cstring_to_text("api"));
  }
  PG_RETURN_NULL();
}

AI_FUNCTION(ai_coordinator_notify) {
  ai::worker::asked = true;
  PG_RETURN_VOID();
}
