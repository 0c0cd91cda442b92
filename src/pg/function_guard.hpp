// Defence in depth behind qualified names, for background processes: as superuser they call only
// functions owned by superusers and by the extension's owner. Otherwise a name that somehow
// resolved to another role's function, operator, cast or domain check would run that role's code as
// superuser.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// For a background process, once, before its first statement.
void InstallFunctionGuard();

}  // namespace ai::pg
