#include "worker/engine.hpp"

#include "pg/queue/queue_notes.hpp"
#include "worker/endpoint/shared_providers.hpp"
#include "worker/jobs/job_waiters.hpp"
#include "worker/shared/control.hpp"
#include "worker/shared/ddl_hooks.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/shared/wake.hpp"
#include "worker/supervise/launcher.hpp"

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
