// What launcher, coordinator and worker have in common: their signals, their place in the shared
// state, how they wait.
//
// SIGTERM does not end the process where it stands, as in a session: it cancels the statement that
// is running, sets the latch, and leaves the process to put its things in order.
#pragma once

#include <chrono>

#include "pg/error.hpp"
#include "worker/shared/shared_state.hpp"

namespace ai::worker {

/// The first thing a process does.
void InstallSignalHandlers();

/// Connects to a database with the rights of the bootstrap superuser, and sets what a database's
/// own settings must not change for us.
void Connect(Oid database, const char* application_name);

/// Takes a slot until the process ends, which wakes the supervisor if there is one. False if
/// another process is in it. INVARIANT: before Connect, so that the slot is left after the
/// database.
bool Occupy(ProcessSlot& slot, const ProcessSlot* supervisor);

/// How this process is called in ai.worker; null in a session.
void SetComponent(const char* name) noexcept;
const char* MyComponent() noexcept;

/// Whether this process is being ended because it was taken for dead.
bool IsDismissed() noexcept;

/// How often rows of processes that died were released in this process's database.
std::uint32_t DeathsInDatabase() noexcept;

/// Becomes the only worker of its database that works on suspects (core/pipeline/isolator.hpp).
/// False if another one is that. It ends with the process at the latest.
bool EnterIsolation() noexcept;
void LeaveIsolation() noexcept;

/// The loop of this process goes round; it gets to work, or begins to end.
void NoteTurn() noexcept;
void NotePhase(policy::Phase phase) noexcept;

/// Notes that the process ends on purpose, so that it may be started again without delay.
void NoteOrderlyEnd();

/// Whether SIGTERM has come.
bool EndRequested() noexcept;

/// Whether somebody has cancelled what this process does.
bool CancelRequested() noexcept;

/// Whether an error is the end of this process or the cancellation of what it does, and not what a
/// user's code has raised with the same SQLSTATE. It is not to be dealt with, but passed on.
bool EndsProcess(const pg::Error& error) noexcept;

/// From now on a statement runs again although SIGTERM has come, for half a second at most.
void AllowLastStatements();

/// What a process waits for, as pg_stat_activity shows it.
class WaitReason final {
 public:
  WaitReason(const char* activity, const char* event_name);

  /// Waits for the latch, for the descriptor (unless -1) to be readable, and no longer than told.
  /// Afterwards interrupts are served and a changed configuration is read. Ends the process if the
  /// server is gone.
  void Wait(std::chrono::milliseconds at_most, int descriptor = -1) const;

 private:
  const char* activity_;
  std::uint32_t event_;
};

/// What a process does now, as pg_stat_activity shows it.
void ShowActivity(const char* activity);

/// Writes an error that was survived to the server's log.
void LogError(const char* what, const std::exception& error);

/// The same for what is tried again and again: an error is logged when it is new, and again only
/// after it went well.
class RecurringError final {
 public:
  explicit RecurringError(const char* what) : what_(what) {}

  /// An error that comes of being asked to end is none.
  void Failed(const std::exception& error);
  void WentWell() { last_.clear(); }

 private:
  const char* what_;
  std::string last_;
};

}  // namespace ai::worker
