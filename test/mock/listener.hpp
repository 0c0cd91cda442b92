// listener.hpp: a listening socket; hands what it accepts to the workers in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mock/file_descriptor.hpp"
#include "mock/worker.hpp"

namespace ai::mock {

class Listener {
 public:
  /// Listens on the port of the address, or on one that the system picks when it is 0.
  Listener(const std::string& host, uint16_t port, Door door,
           const std::vector<std::unique_ptr<Worker>>& workers);

  uint16_t port() const;
  int socket() const { return socket_.get(); }

  void AcceptAll();

 private:
  void RefuseOne();

  const Door door_;
  const std::vector<std::unique_ptr<Worker>>& workers_;
  size_t next_ = 0;
  FileDescriptor socket_;
  FileDescriptor spare_;  // to be closed when there are no descriptors left (see RefuseOne)
};

}  // namespace ai::mock
