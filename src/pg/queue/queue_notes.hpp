// What the current transaction has changed that workers want to know of: the queues it wrote to,
// and what they read of the catalog. Told at its commit, by the engine's hook.
//
// A few words of static memory: to note something costs no allocation and cannot fail. What a
// subtransaction noted is told though it was rolled back: somebody looks once too often, no worse.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// What is noted is a queue table, or one of these: no table of a user has such a low number.
inline constexpr Oid kJobs = 1;        // there are embedding jobs to do
inline constexpr Oid kEverything = 2;  // vectorizers, pauses, providers: look at all of it

/// Keeps notes and transactions in step. Called once, when the library is loaded.
void InstallQueueNotes();

/// The commit of this transaction wakes the workers for a queue, or for one of the above.
void NoteQueueWritten(Oid queue) noexcept;

/// What to do after the commit of a transaction that has noted something; each id comes once. May
/// not fail.
using QueuedHook = void (*)(const Oid* queues, int count) noexcept;
void SetQueuedHook(QueuedHook hook);

}  // namespace ai::pg
