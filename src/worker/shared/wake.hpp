// Waking and signalling processes. All of it may be called by a session at the end of its
// transaction: it waits for nothing but a short lock, and cannot fail.
#pragma once

#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// Sets the latch of a process, if there is one.
void Wake(const ProcessSlot& process) noexcept;

/// A commit wrote to queues of this session's database (pg/queue/queue_notes.hpp). Takes no lock.
void WakeWorkersFor(const Oid* queues, int count) noexcept;

/// Makes the workers of a database poll all queues.
void WakeWorkers(DatabaseSlot& slot) noexcept;

/// A commit created, changed or dropped an extension in this session's database.
void WakeForExtension() noexcept;

/// COMMIT PREPARED or ROLLBACK PREPARED in this session's database: checks everything again that
/// may have changed, unless the extension neither is nor was installed.
void WakeAfterPrepared(bool has_extension) noexcept;

/// A commit in this session's database contains a request of an administrator.
void WakeCoordinator() noexcept;

/// Asks a process to show that it is alive.
void Ping(ProcessSlot& process) noexcept;

/// Sends SIGTERM to a process, and to all processes of a database. With the lock.
void Terminate(const ProcessSlot& process) noexcept;
void TerminateProcesses(const DatabaseSlot& slot) noexcept;

/// The same for a process that may be stopped (SIGSTOP): continues it, so that it exits. With the
/// lock. SIGKILL is not an option: the server would restart all of its processes.
void TerminateStopped(ProcessSlot& process) noexcept;

}  // namespace ai::worker
