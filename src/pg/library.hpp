// What the loaded library knows of itself.
#pragma once

namespace ai::pg {

/// True if the postmaster loaded the library, so that background workers can exist.
bool Preloaded();

/// Says once per session that nothing will be processed when the library was not preloaded.
void WarnIfNotPreloaded();

}  // namespace ai::pg
