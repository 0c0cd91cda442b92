// Events of the current transaction for workers: the queues it wrote to, and changes of the
// catalog. Published at commit, by the engine's hook.
//
// A few words of static memory: recording an event allocates nothing and cannot fail. Events of a
// subtransaction that was rolled back are published nevertheless: that causes at most a needless
// poll.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// An event is the OID of a queue table, or one of these: no user table has such a low OID.
inline constexpr Oid kJobs = 1;        // embedding jobs
inline constexpr Oid kEverything = 2;  // vectorizers, pauses, providers: poll all queues

/// Registers the transaction callbacks. Called once, when the library is loaded.
void InstallQueueNotes();

/// The commit of this transaction wakes the workers for a queue, or for one of the above.
void NoteQueueWritten(Oid queue) noexcept;

/// Called after the commit of a transaction with events; each id once. Must not fail.
using QueuedHook = void (*)(const Oid* queues, int count) noexcept;
void SetQueuedHook(QueuedHook hook);

}  // namespace ai::pg
