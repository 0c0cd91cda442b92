#include "worker/engine.hpp"

#include "pg/queue_notes.hpp"
#include "worker/control.hpp"
#include "worker/ddl_hooks.hpp"
#include "worker/job_waiters.hpp"
#include "worker/launcher.hpp"
#include "worker/shared_providers.hpp"
#include "worker/shared_state.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

void InstallEngine() {
  if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade) {
    return;
  }
  SharedStateBlock::Install("ai");
  ProvidersBlock::Install("ai providers");
  InstallJobWaiters();
  InstallDdlHooks();
  InstallControl();
  pg::SetQueuedHook(WakeWorkersFor);
  RegisterLauncher();
}

}  // namespace ai::worker
