// CREATE EXTENSION ai on a server that lacks pgvector: says which package to install.
#pragma once

namespace ai::pg {

/// Looks at each CREATE EXTENSION ai before the server does. Effective only when preloaded, since
/// otherwise the library is not there yet when the statement comes.
void InstallExtensionCheck();

}  // namespace ai::pg
