// The background processes as a whole.
#pragma once

namespace ai::worker {

/// Sets up all that has to exist before the server starts. Does nothing unless the library is being
/// preloaded, and nothing in a server that pg_upgrade has started.
void InstallEngine();

}  // namespace ai::worker
