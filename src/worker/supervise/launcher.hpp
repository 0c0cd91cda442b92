// The process that knows which databases to serve, keeps a coordinator running for each that has
// something to do, and shares the pool of background processes between them. It is
// connected to no database and sees only the catalogs that all databases share; so whether the
// extension is in a database is for a coordinator to find out.
#pragma once

#include "pg/postgres.hpp"

namespace ai::worker {

/// Has the server start the launcher, on a standby when it is promoted.
void RegisterLauncher();

}  // namespace ai::worker
