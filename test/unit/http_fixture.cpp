// See http_fixture.hpp.
#include "unit/http_fixture.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace ai::test {
namespace {

struct Hang {
  std::mutex mutex;
  std::condition_variable changed;
  bool on = false;
  int threads = 0;
  int signals = -1;
};

Hang& TheHang() {
  static Hang hang;
  return hang;
}

int UnblockedSignals() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  int unblocked = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2, SIGURG}) {
    unblocked += sigismember(&blocked, signal) == 0 ? 1 : 0;
  }
  return unblocked;
}

void HangInResolver() {
  Hang& hang = TheHang();
  std::unique_lock lock(hang.mutex);
  ++hang.threads;
  hang.signals = UnblockedSignals();
  hang.changed.notify_all();
  hang.changed.wait(lock, [&] { return !hang.on; });
  --hang.threads;
  hang.changed.notify_all();
}

std::vector<const char*> TestAddresses(std::string_view name) {
  struct Known {
    std::string_view name;
    std::vector<const char*> addresses;
  };
  static const std::vector<Known> known = {
      {"loopback.test", {"127.0.0.1"}},
      {"metadata.test", {"169.254.169.254"}},
      {"linklocal6.test", {"fe80::1"}},
      {"mapped.test", {"::ffff:169.254.169.254"}},
      {"both.test", {"169.254.169.254", "127.0.0.1"}},
  };
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Known& entry) { return entry.name == name; });
  return found == known.end() ? std::vector<const char*>() : found->addresses;
}

using Resolve = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

Resolve SystemResolver() {
  static const auto resolve = reinterpret_cast<Resolve>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return resolve;
}

}  // namespace

Result<http::Response> Ask(http::Transport& transport, http::Request request) {
  transport.Submit(std::move(request));
  while (true) {
    transport.Poll(std::chrono::seconds(1));
    std::vector<http::Completion> finished = transport.Collect();
    if (!finished.empty()) {
      return std::move(finished.front().result);
    }
  }
}

Listener::Listener(int backlog) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(fd(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd(), backlog) != 0 ||
      getsockname(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("could not listen");
  }
  port_ = ntohs(address.sin_port);
}

std::string Listener::Url(std::string_view scheme) const {
  return std::string(scheme) + "://127.0.0.1:" + std::to_string(port_) + "/some/path?a=query";
}

ScriptedServer::ScriptedServer(std::string reply)
    : reply_(std::move(reply)), thread_([this] { Serve(); }) {}

ScriptedServer::~ScriptedServer() {
  Stop();
}

void ScriptedServer::Stop() {
  if (thread_.joinable()) {
    shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
}

void ScriptedServer::Serve() {
  int accepted = -1;
  while ((accepted = accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0) {
    const ScopedFd connection(accepted);
    if (reply_.empty()) {
      continue;
    }
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n") && read(connection.get(), &byte, 1) == 1) {
      head += byte;
    }
    heads_.push_back(head);
    WriteAll(connection.get(), reply_);
  }
}

HangingResolver::HangingResolver() {
  const std::lock_guard lock(TheHang().mutex);
  TheHang().on = true;
}

HangingResolver::~HangingResolver() {
  Hang& hang = TheHang();
  std::unique_lock lock(hang.mutex);
  hang.on = false;
  hang.changed.notify_all();
  hang.changed.wait(lock, [&] { return hang.threads == 0; });
}

void HangingResolver::AwaitThread() {
  Hang& hang = TheHang();
  std::unique_lock lock(hang.mutex);
  hang.changed.wait(lock, [&] { return hang.threads > 0; });
}

int HangingResolver::SignalsOfThread() {
  const std::lock_guard lock(TheHang().mutex);
  return TheHang().signals;
}

}  // namespace ai::test

// Found before the system's by every library of this program.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  const std::string_view name = node == nullptr ? "" : node;
  if (name == "hang.test") {
    ai::test::HangInResolver();
    return EAI_AGAIN;
  }
  const std::vector<const char*> addresses = ai::test::TestAddresses(name);
  if (name.ends_with(".test") && addresses.empty()) {
    return EAI_NONAME;
  }
  if (addresses.empty()) {
    return ai::test::SystemResolver()(node, service, hints, result);
  }
  addrinfo* first = nullptr;
  addrinfo** next = &first;
  for (const char* const address : addresses) {
    addrinfo numeric = hints == nullptr ? addrinfo{} : *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    numeric.ai_family = AF_UNSPEC;
    if (const int error = ai::test::SystemResolver()(address, service, &numeric, next)) {
      return error;
    }
    next = &(*next)->ai_next;
  }
  *result = first;
  return 0;
}
