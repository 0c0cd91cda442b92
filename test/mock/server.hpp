// server.hpp: the whole: listeners, workers and their threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "mock/context.hpp"
#include "mock/listener.hpp"
#include "mock/options.hpp"
#include "mock/worker.hpp"

namespace ai::mock {

class Server {
 public:
  /// Listens and serves when this returns; throws when it cannot.
  explicit Server(const Options& options);
  /// Ends all connections and threads.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const { return plain_->port(); }
  uint16_t control_port() const { return control_->port(); }
  std::optional<uint16_t> tls_port() const;

 private:
  std::unique_ptr<Listener> MakeListener(const Options& options, uint16_t port, Door door);

  Context context_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Listener> plain_;
  std::unique_ptr<Listener> tls_;
  std::unique_ptr<Listener> control_;
  std::vector<std::thread> threads_;
};

}  // namespace ai::mock
