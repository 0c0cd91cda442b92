// The library's start. Whatever has to exist in every process is set up here, in order.
#include "pg/library.hpp"

#include "pg/extension_check.hpp"
#include "pg/guard.hpp"
#include "pg/queue_batch.hpp"
#include "pg/queue_notes.hpp"
#include "pg/queue_route.hpp"
#include "pg/secret.hpp"
#include "pg/settings.hpp"
#include "worker/engine.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init();
}

namespace ai::pg {

namespace {
bool preloaded = false;
}

bool Preloaded() {
  return preloaded;
}

void WarnIfNotPreloaded() {
  if (preloaded || !settings.preload_warning || IsParallelWorker() || IsBinaryUpgrade) {
    return;
  }
  ereport(WARNING, errmsg("ai was not loaded through shared_preload_libraries"),
          errdetail("The SQL functions work, but there is no background worker: changes of tables "
                    "are queued and not processed."),
          errhint("Add ai to shared_preload_libraries in postgresql.conf and restart the server. "
                  "To live without workers, set ai.preload_warning to off."));
}

}  // namespace ai::pg

void _PG_init() {
  ai::pg::Boundary([] {
    ai::pg::preloaded = process_shared_preload_libraries_in_progress;
    ai::pg::InstallTerminateHandler();
    ai::pg::DefineSettings();
    ai::pg::InstallExtensionCheck();
    ai::pg::InstallQueueCallbacks();
    ai::pg::InstallQueueNotes();
    ai::pg::InstallRouteCache();
    ai::pg::InstallSecretLogFilter();
    ai::worker::InstallEngine();
    ai::pg::WarnIfNotPreloaded();
  });
}
