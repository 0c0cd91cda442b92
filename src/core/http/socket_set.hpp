// The sockets that curl wants watched, behind one descriptor that an event loop can wait for.
#pragma once

#include <array>
#include <cstddef>

namespace ai::http {

class SocketSet {
 public:
  struct Ready {
    int socket;
    bool readable;
    bool writable;
  };
  static constexpr std::size_t kMaxReady = 64;

  /// Throws Error if the system refuses.
  SocketSet();
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  /// Readable when any of the sockets is ready.
  int descriptor() const { return descriptor_; }

  /// Returns an errno, 0 if all is well. For a callback of curl: does not throw.
  int Watch(int socket, bool readable, bool writable) noexcept;
  void Forget(int socket) noexcept;

  /// Which sockets are ready now, without waiting: so many of the array are filled. The others'
  /// turn comes with the next call.
  std::size_t Take(std::array<Ready, kMaxReady>& ready);

 private:
  int descriptor_;
};

}  // namespace ai::http
