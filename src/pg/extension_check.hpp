// CREATE EXTENSION ai on a server without pgvector: names the package to install.
#pragma once

namespace ai::pg {

/// Checks each CREATE EXTENSION ai before the server runs it. Effective only when preloaded, since
/// otherwise the library is not loaded yet at that time.
void InstallExtensionCheck();

}  // namespace ai::pg
