// Log messages about the state of workers: one per event, with a hint at what to do.
#pragma once

#include <string>

#include "pg/postgres.hpp"

namespace ai::worker {

/// The process is an id in ai.vectorizer_worker_process; empty if it had not registered yet.
void LogCrash(const std::string& component, const std::string& process, pid_t pid,
              const std::string& why);

/// It will not be restarted.
void LogFailed(const std::string& component);

/// Its process does not exit although it was terminated.
void LogStuck(const std::string& component, pid_t pid);

/// An external worker has stopped sending heartbeats.
void LogSilent(const std::string& component);

}  // namespace ai::worker
