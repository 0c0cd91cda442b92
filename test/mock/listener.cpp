// listener.cpp: a listening socket.
#include "mock/listener.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace ai::mock {

namespace {

constexpr int kBacklog = 4096;

int Checked(int result, const std::string& what) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return result;
}

int OpenSpare() {
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

Listener::Listener(const std::string& host, uint16_t port, Door door,
                   const std::vector<std::unique_ptr<Worker>>& workers)
    : door_(door),
      workers_(workers),
      socket_(Checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket")),
      spare_(OpenSpare()) {
  const int on = 1;
  Checked(setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    throw std::runtime_error("\"" + host + "\" is no IPv4 address");
  }
  Checked(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
          "bind to " + host + ":" + std::to_string(port));
  Checked(listen(socket_.get(), kBacklog), "listen");
}

uint16_t Listener::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  Checked(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return ntohs(address.sin_port);
}

void Listener::AcceptAll() {
  for (;;) {
    FileDescriptor accepted(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.get() >= 0) {
      const int on = 1;
      setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      workers_[next_++ % workers_.size()]->Adopt(std::move(accepted), door_);
    } else if (errno == EMFILE || errno == ENFILE) {
      RefuseOne();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// Out of descriptors: a connection that stays in the backlog would keep the loop busy for nothing,
// so the spare descriptor makes room to take it and close it.
void Listener::RefuseOne() {
  spare_.Close();
  FileDescriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)).Close();
  spare_ = FileDescriptor(OpenSpare());
}

}  // namespace ai::mock
