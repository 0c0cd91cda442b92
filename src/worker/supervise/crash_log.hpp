// What the server's log says about workers: a line for each event, with what to do about it.
#pragma once

#include <string>

#include "pg/postgres.hpp"

namespace ai::worker {

/// The process is an id in ai.vectorizer_worker_process; empty if it had not got that far.
void LogCrash(const std::string& component, const std::string& process, pid_t pid,
              const std::string& why);

/// It is not started again.
void LogFailed(const std::string& component);

/// Its process does not end, though it was asked to.
void LogStuck(const std::string& component, pid_t pid);

/// A worker that somebody else runs gives no heartbeat.
void LogSilent(const std::string& component);

}  // namespace ai::worker
