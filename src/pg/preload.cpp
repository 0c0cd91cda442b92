#include "pg/preload.hpp"

#include "pg/postgres.hpp"
#include "pg/settings.hpp"

namespace ai::pg {

namespace {
bool preloaded = false;
}

void NotePreload() {
  preloaded = process_shared_preload_libraries_in_progress;
}

bool Preloaded() {
  return preloaded;
}

void WarnIfNotPreloaded() {
  if (preloaded || !settings.preload_warning || IsParallelWorker() || IsBinaryUpgrade) {
    return;
  }
  ereport(WARNING, errmsg("ai was not loaded through shared_preload_libraries"),
          errdetail("The SQL functions work, but there are no background workers: changes are "
                    "queued and not processed."),
          errhint("Add ai to shared_preload_libraries in postgresql.conf and restart the server. "
                  "To run without workers, set ai.preload_warning to off."));
}

}  // namespace ai::pg
