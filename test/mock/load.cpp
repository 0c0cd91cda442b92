// load.cpp: how many requests a second the mock provider answers: a client that keeps a number of
// connections busy, each with one request at a time, and counts. Measures nothing but the mock.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mock/file_descriptor.hpp"

namespace {

using ai::mock::FileDescriptor;
using Clock = std::chrono::steady_clock;

constexpr size_t kConnections = 16;
constexpr std::chrono::seconds kDuration{3};

int Checked(int result, const char* what) {
  if (result < 0) {
    std::perror(what);
    throw std::runtime_error(what);
  }
  return result;
}

struct Connection {
  FileDescriptor socket;
  std::string received;
  size_t expected = 0;  // bytes of the reply; 0 until its head is read
};

struct Workload {
  const char* name;
  const char* model;
  const char* format;
  unsigned items;
};

struct Result {
  uint64_t requests = 0;
  uint64_t bytes = 0;
  double seconds = 0;
};

std::string MakeRequest(const Workload& load) {
  std::string body = std::string(R"({"model":")") + load.model + R"(","encoding_format":")" +
                     load.format + R"(","input":[)";
  for (unsigned i = 0; i < load.items; ++i) {
    body += i > 0 ? "," : "";
    body += R"("a short text, number )" + std::to_string(i) + '"';
  }
  body += "]}";
  return "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

FileDescriptor Connect(uint16_t port) {
  FileDescriptor fd(Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Checked(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
          "connect");
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

void SendAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    Checked(static_cast<int>(sent), "send");
    data.remove_prefix(static_cast<size_t>(sent));
  }
}

constexpr std::string_view kLengthHeader = "Content-Length: ";

// The size of the whole reply once its head is there, else 0. Anything but a 200 ends the program:
// a fast mock that fails is no fast mock.
size_t ReplySize(const std::string& received) {
  const size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos) {
    return 0;
  }
  const size_t at = received.find(kLengthHeader);
  if (!received.starts_with("HTTP/1.1 200 ") || at == std::string::npos || at > end) {
    throw std::runtime_error("unexpected reply: " + received.substr(0, end));
  }
  return end + 4 + std::strtoull(received.c_str() + at + kLengthHeader.size(), nullptr, 10);
}

// Reads what is there; true when the reply is complete.
bool Receive(Connection& connection, uint64_t& bytes) {
  static std::array<char, size_t{256} << 10> buffer;
  const ssize_t got = recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (Checked(static_cast<int>(got), "recv") == 0) {
    throw std::runtime_error("the mock closed a connection");
  }
  bytes += static_cast<uint64_t>(got);
  connection.received.append(buffer.data(), static_cast<size_t>(got));
  if (connection.expected == 0) {
    connection.expected = ReplySize(connection.received);
  }
  return connection.expected > 0 && connection.received.size() >= connection.expected;
}

Result Run(uint16_t port, const Workload& load) {
  const std::string request = MakeRequest(load);
  const FileDescriptor epoll(Checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"));
  std::vector<std::unique_ptr<Connection>> connections;
  for (size_t i = 0; i < kConnections; ++i) {
    connections.push_back(std::make_unique<Connection>());
    connections.back()->socket = Connect(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connections.back().get();
    Checked(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, connections.back()->socket.get(), &event),
            "epoll_ctl");
    SendAll(connections.back()->socket.get(), request);
  }
  Result result;
  const Clock::time_point start = Clock::now();
  std::array<epoll_event, kConnections> events;
  while (Clock::now() - start < kDuration) {
    const int count = Checked(epoll_wait(epoll.get(), events.data(), kConnections, 1000), "wait");
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[i].data.ptr);
      if (Receive(connection, result.bytes)) {
        ++result.requests;
        connection.received.clear();
        connection.expected = 0;
        SendAll(connection.socket.get(), request);
      }
    }
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

// Starts the mock; returns its port.
uint16_t Start(const char* program, pid_t& child) {
  std::array<int, 2> pipe_ends;
  Checked(pipe(pipe_ends.data()), "pipe");
  child = Checked(fork(), "fork");
  if (child == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    execl(program, program, static_cast<char*>(nullptr));
    std::perror(program);
    _exit(127);
  }
  close(pipe_ends[1]);
  const FileDescriptor output(pipe_ends[0]);
  std::string text;
  std::array<char, 256> buffer;
  while (text.find("ready\n") == std::string::npos) {
    const ssize_t got = read(output.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      throw std::runtime_error("the mock did not start");
    }
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return static_cast<uint16_t>(std::strtoul(text.c_str(), nullptr, 10));
}

// The processor time that the mock has used, in seconds; 0 when it is not our child.
double ProcessorTime(pid_t child) {
  const std::string path = "/proc/" + std::to_string(child) + "/stat";
  std::FILE* file = child > 0 ? std::fopen(path.c_str(), "re") : nullptr;
  if (file == nullptr) {
    return 0;
  }
  unsigned long user = 0;
  unsigned long system = 0;
  // Fields 14 and 15; the name in field 2 has no blank.
  const int read = std::fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                               &user, &system);
  std::fclose(file);
  return read == 2 ? static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK))
                   : 0;
}

constexpr std::array kLoads{
    Workload{"1 text, 8 dimensions", "mock-8", "float", 1},
    Workload{"1 text, 1536 dimensions", "mock-1536", "float", 1},
    Workload{"1 text, 1536 dimensions, base64", "mock-1536", "base64", 1},
    Workload{"100 texts, 768 dimensions", "mock-768", "float", 100},
    Workload{"100 texts, 768 dimensions, base64", "mock-768", "base64", 100},
};

void RunAll(uint16_t port, pid_t child) {
  std::printf("%-36s %12s %12s %8s %18s\n", "request", "requests/s", "vectors/s", "MB/s",
              "mock's CPU/request");
  for (const Workload& load : kLoads) {
    const double before = ProcessorTime(child);
    const Result result = Run(port, load);
    const double used = (ProcessorTime(child) - before) / static_cast<double>(result.requests);
    const double rate = static_cast<double>(result.requests) / result.seconds;
    std::printf("%-36s %12.0f %12.0f %8.0f %15.1f us\n", load.name, rate, rate * load.items,
                static_cast<double>(result.bytes) / result.seconds / 1e6, used * 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc == 3 ? argv[1] : "";
  if (how != "--port" && how != "--start") {
    std::fprintf(stderr, "usage: mock_load --start MOCK_PROVIDER | --port PORT\n");
    return 2;
  }
  pid_t child = 0;
  int status = 0;
  try {
    const uint16_t port = how == "--start"
                              ? Start(argv[2], child)
                              : static_cast<uint16_t>(std::strtoul(argv[2], nullptr, 10));
    RunAll(port, child);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mock_load: %s\n", error.what());
    status = 1;
  }
  if (child > 0) {
    kill(child, SIGTERM);
    waitpid(child, nullptr, 0);
  }
  return status;
}
