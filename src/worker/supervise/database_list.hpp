// The databases to serve, whether or not they have the extension.
#pragma once

#include <vector>

#include "pg/postgres.hpp"

namespace ai::worker {

/// Databases that accept connections and are listed in ai.databases, or all if that is empty. Runs
/// its own transaction, in a process that is connected to any database or to none.
std::vector<Oid> ListDatabases();

/// Whether ai.databases lists the database or is empty. Call in a transaction.
bool IsListed(Oid database);

}  // namespace ai::worker
