// What holds for all requests of a transport. A change of a setting takes a new transport.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "core/http/host_policy.hpp"

namespace ai::http {

/// An answer that has begun and then brings fewer bytes than this within the window has failed.
/// The time before its first byte does not count: a model may take long to load.
struct LowSpeed {
  std::size_t bytes = 256;
  std::chrono::milliseconds window{std::chrono::seconds(30)};
};

struct TransportOptions {
  HostList allowed_hosts = {};          // nothing: every request is refused
  std::string user_agent = "ai";        // "ai/<version>"
  std::string ca_file = {};             // trusted instead of the system's authorities, if any
  bool proxy_from_environment = false;  // http_proxy and the like
  std::size_t max_connections = 64;
  std::size_t max_connections_per_host = 32;  // with more requests than that, some wait
  LowSpeed low_speed = {};
};

}  // namespace ai::http
