#include "worker/supervise/crash_log.hpp"

#include "pg/guard.hpp"

namespace ai::worker {

void LogCrash(const std::string& component, const std::string& process, pid_t pid,
              const std::string& why) {
  pg::Call([&] {
    ereport(
        LOG, errmsg("ai: %s crashed: %s", component.c_str(), why.c_str()),
        errdetail("The process was %s, PID %d.",
                  process.empty() ? "not registered yet" : process.c_str(), static_cast<int>(pid)));
  });
}

void LogFailed(const std::string& component) {
  pg::Call([&] {
    ereport(
        LOG, errmsg("ai: %s crashed too often and will not be restarted", component.c_str()),
        errdetail("It crashed ai.restart_limit times within ai.restart_window."),
        errhint("Once the cause is fixed, run SELECT ai.restart_worker('%s').", component.c_str()));
  });
}

void LogStuck(const std::string& component, pid_t pid) {
  pg::Call([&] {
    ereport(LOG,
            errmsg("ai: process of %s (PID %d) does not exit", component.c_str(),
                   static_cast<int>(pid)),
            errdetail("Its rows have been released. It is not replaced while the process exists."),
            errhint("Find out what it is doing. SIGKILL would make the server restart and "
                    "terminate all sessions."));
  });
}

void LogSilent(const std::string& component) {
  pg::Call([&] {
    ereport(LOG, errmsg("ai: %s crashed: no heartbeat", component.c_str()),
            errhint("It is not managed by this server: restart it where it runs."));
  });
}

}  // namespace ai::worker
