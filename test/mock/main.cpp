// main.cpp: the mock provider's program: starts, says where it listens, waits for the end.
//
// A test program that nobody has to clean up after: it ends with its parent.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "mock/options.hpp"
#include "mock/server.hpp"

namespace {

using ai::mock::Options;

// False when the parent has ended before the kernel could be asked to watch it.
bool TieToParent(const Options& options) {
  if (!options.outlive_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
  return options.parent == 0 || getppid() == static_cast<pid_t>(options.parent);
}

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

void Serve(const Options& options, const sigset_t& signals) {
  const ai::mock::Server server(options);
  std::printf("%u\ncontrol %u\n", server.port(), server.control_port());
  if (server.tls_port().has_value()) {
    std::printf("tls %u\n", *server.tls_port());
  }
  std::printf("ready\n");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
}

}  // namespace

int main(int argc, char** argv) {
  // Blocked before there are threads, so that none of them gets these signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const Options options = ai::mock::ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
    if (options.help) {
      std::fputs(ai::mock::kUsage, stdout);
      return 0;
    }
    if (!TieToParent(options)) {
      return 0;
    }
    RaiseFileLimit();
    Serve(options, signals);
    return 0;
  } catch (const ai::mock::UsageError& error) {
    std::fprintf(stderr, "mock_provider: %s\n%s", error.what(), ai::mock::kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mock_provider: %s\n", error.what());
    return 1;
  }
}
