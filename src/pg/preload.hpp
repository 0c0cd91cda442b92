// Whether the postmaster has loaded the library: without that there are no background processes.
#pragma once

namespace ai::pg {

/// While the library is loaded.
void NotePreload();

/// True if the postmaster loaded the library, so that background workers can exist.
bool Preloaded();

/// Warns once per session, if the library was not preloaded, that nothing will be processed.
void WarnIfNotPreloaded();

}  // namespace ai::pg
