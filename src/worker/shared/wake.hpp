// Who wakes whom. All of it may be called from a session at the end of its transaction: nothing
// here waits for anything but a short lock, and nothing fails.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// Sets the latch of a process; nothing happens if there is none.
void Wake(const ProcessSlot& process) noexcept;

/// A commit wrote to queues of this session's database (pg/queue/queue_notes.hpp). Takes no lock.
void WakeWorkersFor(const Oid* queues, int count) noexcept;

/// The workers of a database look at everything.
void WakeWorkers(DatabaseSlot& slot) noexcept;

/// A commit created, changed or dropped an extension in this session's database.
void WakeForExtension() noexcept;

/// COMMIT PREPARED or ROLLBACK PREPARED in this session's database: whatever could have changed is
/// looked at again, unless the extension is not there and was not.
void WakeAfterPrepared(bool has_extension) noexcept;

/// An operator asked for something in this session's database, by a commit.
void WakeCoordinator() noexcept;

/// Asks a process whether it lives.
void Ask(ProcessSlot& process) noexcept;

/// Sends SIGTERM to a process, and to all processes of a database. With the lock.
void End(const ProcessSlot& process) noexcept;
void EndProcesses(const DatabaseSlot& slot) noexcept;

/// The same for a process that may have been stopped: it goes on, and ends. With the lock. SIGKILL
/// is no way to end one that does not: the server would restart all of its processes.
void EndStopped(ProcessSlot& process) noexcept;

}  // namespace ai::worker
