// What launcher, coordinator and worker have in common: signal handling, their slot in the shared
// state, how they wait.
//
// SIGTERM does not terminate the process right away as in a session: it cancels the running
// statement, sets the latch, and lets the process shut down cleanly.
#pragma once

#include <chrono>

#include "pg/error.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// Has to be the first call of a process.
void InstallSignalHandlers();

/// Connects to a database as the bootstrap superuser, and overrides settings that ALTER DATABASE
/// must not change for us.
void Connect(Oid database, const char* application_name);

/// Occupies a slot until the process exits, which wakes the supervisor if there is one. False if
/// another process occupies it. INVARIANT: call before Connect, so that the slot is vacated after
/// the connection is gone.
bool Occupy(ProcessSlot& slot, const ProcessSlot* supervisor);

/// The name of this process in ai.worker; null in a session.
void SetComponent(const char* name) noexcept;
const char* MyComponent() noexcept;

/// Whether this process is being terminated because it was declared dead.
bool IsDeclaredDead() noexcept;

/// How often rows of crashed processes were released in this process's database.
std::uint32_t CrashesInDatabase() noexcept;

/// Makes this process the only worker of its database that processes suspects
/// (core/pipeline/isolator.hpp). False if another one does. Ends with the process at the latest.
bool EnterIsolation() noexcept;
void LeaveIsolation() noexcept;

/// Records that the main loop has completed a turn, and the phase of the process.
void NoteTurn() noexcept;
void NotePhase(policy::Phase phase) noexcept;

/// Records that the process exits on purpose, so that it may be restarted without delay.
void NoteCleanExit();

/// Whether SIGTERM has been received.
bool ShutdownRequested() noexcept;

/// Whether an administrator has cancelled what this process is doing.
bool CancelRequested() noexcept;

/// Whether an error is a shutdown or a cancellation of this process, as opposed to one that user
/// code raised with the same SQLSTATE. Do not handle it, but rethrow it.
bool EndsProcess(const pg::Error& error) noexcept;

/// Allows statements to run although SIGTERM has been received, for half a second at most.
void AllowLastStatements();

/// What a process is waiting for, as shown in pg_stat_activity.
class WaitReason final {
 public:
  WaitReason(const char* activity, const char* event_name);

  /// Waits for the latch, for the descriptor (unless -1) to become readable, or for the timeout.
  /// Then processes interrupts and reloads the configuration if it has changed. Exits if the
  /// postmaster is gone.
  void Wait(std::chrono::milliseconds at_most, int descriptor = -1) const;

 private:
  const char* activity_;
  std::uint32_t event_;
};

/// Sets what pg_stat_activity shows this process to be doing.
void ShowActivity(const char* activity);

/// Logs an error from which the process has recovered.
void LogError(const char* what, const std::exception& error);

/// The same for recurring operations: an error is logged once, and again only after a success or if
/// it changes.
class RecurringError final {
 public:
  explicit RecurringError(const char* what) : what_(what) {}

  /// Errors during shutdown are ignored.
  void Failed(const std::exception& error);
  void Succeeded() { last_.clear(); }

 private:
  const char* what_;
  std::string last_;
};

}  // namespace ai::worker
