// stream.hpp: the bytes of one connection, plain or within TLS. Never blocks, never waits.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace ai::mock {

enum class IoStatus { kOk, kWouldBlock, kEnd, kFailed };

struct IoResult {
  IoStatus status;
  size_t bytes = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  virtual IoResult Read(char* into, size_t size) = 0;
  virtual IoResult Write(std::string_view data) = 0;
  /// Says goodbye as the protocol wants it; the socket stays open.
  virtual void Finish() = 0;
  /// Whether the connection ended before TLS was agreed on.
  virtual bool failed_handshake() const { return false; }
};

/// A stream over a socket that others own.
std::unique_ptr<Stream> MakePlainStream(int socket);

}  // namespace ai::mock
