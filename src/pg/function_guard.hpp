// A second wall behind qualified names, for background processes: with the rights of a superuser
// they call functions of superusers and of the extension's owner, and no others. A name that
// resolved to a function, an operator, a cast or the check of a domain of somebody else, in
// whatever way, would otherwise run that role's code as superuser.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// For a background process, once, before its first statement.
void InstallFunctionGuard();

}  // namespace ai::pg
