// Sets up the background processes.
#pragma once

namespace ai::worker {

/// Sets up what has to exist before the server starts. Does nothing unless the library is being
/// preloaded, and nothing during pg_upgrade.
void InstallEngine();

}  // namespace ai::worker
