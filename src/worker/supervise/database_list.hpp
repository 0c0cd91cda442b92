// Which databases there are to serve, whether they have the extension or not.
#pragma once

#include <vector>

#include "pg/postgres.hpp"

namespace ai::worker {

/// Those that may be served: one can connect to them, and ai.databases names them or nothing. In a
/// transaction of its own, in a process that is connected to any database or to none.
std::vector<Oid> ListDatabases();

/// Whether ai.databases names a database, or none at all. In a transaction.
bool IsListed(Oid database);

}  // namespace ai::worker
