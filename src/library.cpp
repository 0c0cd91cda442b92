// _PG_init: sets up what every process needs, in order.
#include "pg/preload.hpp"

#include "pg/extension_check.hpp"
#include "pg/guard.hpp"
#include "pg/queue/queue_batch.hpp"
#include "pg/queue/queue_notes.hpp"
#include "pg/queue/queue_route.hpp"
#include "pg/secret/secret.hpp"
#include "pg/settings.hpp"
#include "worker/engine.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init();
}

void _PG_init() {
  ai::pg::Boundary([] {
    ai::pg::NotePreload();
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
