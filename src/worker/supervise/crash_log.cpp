#include "worker/supervise/crash_log.hpp"

#include "pg/guard.hpp"

namespace ai::worker {

void LogCrash(const std::string& component, const std::string& process, pid_t pid,
              const std::string& why) {
  pg::Call([&] {
    ereport(
        LOG, errmsg("ai: %s has crashed: %s", component.c_str(), why.c_str()),
        errdetail("Its process was %s, pid %d.",
                  process.empty() ? "not registered yet" : process.c_str(), static_cast<int>(pid)));
  });
}

void LogFailed(const std::string& component) {
  pg::Call([&] {
    ereport(
        LOG, errmsg("ai: %s has failed: it is not started any more", component.c_str()),
        errdetail("It has crashed ai.restart_limit times within ai.restart_window."),
        errhint("When the reason is gone, run SELECT ai.restart_worker('%s').", component.c_str()));
  });
}

void LogStuck(const std::string& component, pid_t pid) {
  pg::Call([&] {
    ereport(LOG,
            errmsg("ai: the process of %s, pid %d, does not end", component.c_str(),
                   static_cast<int>(pid)),
            errdetail("Its rows are with others; it is not replaced as long as it is there."),
            errhint("See what it does. If it is killed with SIGKILL, the server restarts and all "
                    "of its sessions end."));
  });
}

void LogSilent(const std::string& component) {
  pg::Call([&] {
    ereport(LOG, errmsg("ai: %s has crashed: no heartbeat", component.c_str()),
            errhint("It is not run by this server: start it again where it runs."));
  });
}

}  // namespace ai::worker
