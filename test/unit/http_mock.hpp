// The mock provider (test/mock) as a child process, for tests and benchmarks of the HTTP client.
// Header only. Talks to its control port over a plain socket, not with the code under test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ai::test {

/// Closes a descriptor at the end of its scope.
class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {
    if (fd < 0) {
      throw std::runtime_error("could not open a descriptor");
    }
  }
  ~ScopedFd() { close(fd_); }
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

inline sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// A directory that is gone with its contents at the end of its scope.
class ScopedDirectory {
 public:
  ScopedDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "ai-http-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("could not make a directory");
    }
    path_ = pattern;
  }
  ~ScopedDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScopedDirectory(const ScopedDirectory&) = delete;
  ScopedDirectory& operator=(const ScopedDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class MockProvider {
 public:
  explicit MockProvider(std::vector<std::string> arguments = {}) {
    const char* const named = std::getenv("AI_MOCK_PROVIDER");
    const std::string program =
        named != nullptr && *named != '\0' ? named : "build/mock/mock_provider";
    arguments.insert(arguments.begin(), program);
    Start(program, arguments);
  }

  ~MockProvider() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  MockProvider(const MockProvider&) = delete;
  MockProvider& operator=(const MockProvider&) = delete;

  std::string Url(std::string_view path = "/v1/models") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  std::string TlsUrl(std::string_view path = "/v1/models") const {
    return "https://localhost:" + std::to_string(tls_port_) + std::string(path);
  }

  /// Replaces the rules; see test/mock/README.md.
  void Rules(std::string_view json) { Control("POST", "/control", json); }

  /// The value of a plain counter.
  long Counter(const std::string& name) {
    const std::string stats = Control("GET", "/control/stats", "");
    const std::string quoted = "\"" + name + "\":";
    const std::size_t at = stats.find(quoted);
    return at == std::string::npos ? -1 : std::atol(stats.c_str() + at + quoted.size());
  }

  /// Waits for a counter, as in "requests=3".
  void WaitFor(const std::string& condition) {
    if (Control("GET", "/control/wait?" + condition, "").find("true") == std::string::npos) {
      throw std::runtime_error("the mock provider never saw " + condition);
    }
  }

  std::string Control(std::string_view method, std::string_view path, std::string_view body) {
    const ScopedFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(control_port_);
    if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address))) {
      throw std::runtime_error("could not connect to the mock provider");
    }
    WriteAll(connection.get(), std::string(method) + " " + std::string(path) +
                                   " HTTP/1.1\r\nHost: mock\r\nConnection: close\r\n"
                                   "Content-Length: " +
                                   std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
    std::string reply;
    std::array<char, 4096> buffer;
    ssize_t count = 0;
    while ((count = read(connection.get(), buffer.data(), buffer.size())) > 0) {
      reply.append(buffer.data(), static_cast<std::size_t>(count));
    }
    if (!reply.starts_with("HTTP/1.1 200")) {
      throw std::runtime_error("the mock provider refused: " + reply);
    }
    return reply;
  }

 private:
  void Start(const std::string& program, const std::vector<std::string>& arguments) {
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) {
      throw std::runtime_error("could not make a pipe");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    const int error =
        posix_spawn(&process_, program.c_str(), &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    const std::unique_ptr<FILE, int (*)(FILE*)> output(fdopen(ends[0], "r"), &fclose);
    if (error != 0) {
      throw std::runtime_error("could not start " + program + ": run \"make -C test/mock\"");
    }
    ReadPorts(output.get());
  }

  void ReadPorts(FILE* output) {
    std::array<char, 128> line = {};
    while (fgets(line.data(), line.size(), output) != nullptr) {
      const std::string_view text(line.data());
      if (text.starts_with("ready")) {
        return;
      }
      const std::size_t digits = text.find_first_of("0123456789");
      std::uint16_t& port = text.starts_with("control") ? control_port_
                            : text.starts_with("tls")   ? tls_port_
                                                        : port_;
      std::from_chars(text.data() + std::min(digits, text.size()), text.data() + text.size(), port);
    }
    throw std::runtime_error("the mock provider did not start");
  }

  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  std::uint16_t control_port_ = 0;
  std::uint16_t tls_port_ = 0;
};

}  // namespace ai::test
