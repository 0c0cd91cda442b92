// The process that knows which databases to serve, keeps a coordinator running for each that has
// work, and divides the process pool among them. It is connected to no database and sees only the
// shared catalogs, so a coordinator has to check whether a database has the extension.
#pragma once

#include "pg/postgres.hpp"

namespace ai::worker {

/// Registers the launcher as a background worker; on a standby it starts at promotion.
void RegisterLauncher();

}  // namespace ai::worker
