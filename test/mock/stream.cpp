// stream.cpp: the bytes of a connection without TLS.
#include "mock/stream.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace ai::mock {

namespace {

class PlainStream : public Stream {
 public:
  explicit PlainStream(int socket) : socket_(socket) {}

  IoResult Read(char* into, size_t size) override {
    const ssize_t got = recv(socket_, into, size, 0);
    return got == 0 ? IoResult{IoStatus::kEnd} : ResultOf(got);
  }

  IoResult Write(std::string_view data) override {
    return ResultOf(send(socket_, data.data(), data.size(), MSG_NOSIGNAL));
  }

  void Finish() override { shutdown(socket_, SHUT_WR); }

 private:
  static IoResult ResultOf(ssize_t count) {
    if (count >= 0) {
      return {IoStatus::kOk, static_cast<size_t>(count)};
    }
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return {later ? IoStatus::kWouldBlock : IoStatus::kFailed};
  }

  int socket_;
};

}  // namespace

std::unique_ptr<Stream> MakePlainStream(int socket) {
  return std::make_unique<PlainStream>(socket);
}

}  // namespace ai::mock
