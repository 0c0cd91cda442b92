// Who wakes whom. All of it may be called from a session at the end of its transaction: nothing
// here waits for anything but a short lock, and nothing fails.
#pragma once

#include "worker/shared_state.hpp"

namespace ai::worker {

/// Sets the latch of a process; nothing happens if there is none.
void Wake(const ProcessSlot& process) noexcept;

/// A commit wrote to a queue of this session's database. Takes no lock.
void WakeWorkers() noexcept;

/// The workers of a database, for rows that a commit did not bring.
void WakeWorkers(DatabaseSlot& slot) noexcept;

/// A commit created, changed or dropped an extension in this session's database.
void WakeForExtension() noexcept;

/// Sends SIGTERM to a process, and to all processes of a database. With the lock.
void End(const ProcessSlot& process) noexcept;
void EndProcesses(const DatabaseSlot& slot) noexcept;

}  // namespace ai::worker
