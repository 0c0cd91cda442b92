// See socket_set.hpp.
#include "core/http/socket_set.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/error.hpp"

namespace ai::http {
namespace {

Error SystemError(const char* what, int error) {
  return {ErrorCode::kInternal, std::string(what) + ": " + std::generic_category().message(error)};
}

}  // namespace

SocketSet::SocketSet() : descriptor_(epoll_create1(EPOLL_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw SystemError("could not create an epoll descriptor", errno);
  }
}

SocketSet::~SocketSet() {
  close(descriptor_);
}

int SocketSet::Watch(int socket, bool readable, bool writable) noexcept {
  epoll_event event = {};
  event.events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U);
  event.data.fd = socket;
  if (epoll_ctl(descriptor_, EPOLL_CTL_MOD, socket, &event) == 0) {
    return 0;
  }
  if (errno == ENOENT && epoll_ctl(descriptor_, EPOLL_CTL_ADD, socket, &event) == 0) {
    return 0;
  }
  return errno;
}

void SocketSet::Forget(int socket) noexcept {
  // Fails only if the socket is closed, and then it is forgotten already.
  epoll_ctl(descriptor_, EPOLL_CTL_DEL, socket, nullptr);
}

std::size_t SocketSet::Take(std::array<Ready, kMaxReady>& ready) {
  std::array<epoll_event, kMaxReady> events;
  const int count = epoll_wait(descriptor_, events.data(), static_cast<int>(events.size()), 0);
  if (count < 0 && errno != EINTR) {
    throw SystemError("could not ask which sockets are ready", errno);
  }
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    // An error is found by reading: that tells which.
    const bool readable = (event.events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0;
    const bool writable = (event.events & EPOLLOUT) != 0;
    ready[static_cast<std::size_t>(i)] = {event.data.fd, readable, writable};
  }
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

}  // namespace ai::http
