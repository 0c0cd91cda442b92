// What the tests of the HTTP client share: short requests, a server that says what it is told, a
// resolver that knows the names of the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/http/curl_transport.hpp"
#include "core/http/message.hpp"
#include "unit/http_mock.hpp"

namespace ai::test {

inline http::Request Get(std::string url) {
  http::Request request;
  request.method = http::Method::kGet;
  request.url = std::move(url);
  request.timeouts.total = std::chrono::seconds(10);
  return request;
}

inline http::Request Post(std::string url, std::string body) {
  http::Request request = Get(std::move(url));
  request.method = http::Method::kPost;
  request.headers.Add("Content-Type", "application/json");
  request.body = std::move(body);
  return request;
}

inline http::TransportOptions Options(std::string_view hosts = "localhost, 127.0.0.1, [::1]") {
  http::TransportOptions options;
  options.allowed_hosts = http::HostList::Parse(hosts);
  options.user_agent = "ai/test";
  return options;
}

/// Sends one request and waits for its end.
Result<http::Response> Ask(http::Transport& transport, http::Request request);

/// A socket that listens on the loopback interface.
class Listener {
 public:
  explicit Listener(int backlog = 16);
  int fd() const { return socket_.get(); }
  std::string Url(std::string_view scheme = "http") const;
  std::uint16_t port() const { return port_; }

 private:
  ScopedFd socket_;
  std::uint16_t port_ = 0;
};

/// Accepts connections one after the other, reads the head of a request, sends the reply and
/// closes. An empty reply: closes at once, without reading. The requests' heads can be read after
/// Stop.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::string reply);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::string Url(std::string_view scheme = "http") const { return listener_.Url(scheme); }
  void Stop();
  const std::vector<std::string>& heads() const { return heads_; }

 private:
  void Serve();

  std::string reply_;
  Listener listener_;
  std::vector<std::string> heads_;
  std::thread thread_;
};

/// The resolver that curl uses in this program knows these names, none other that ends in .test,
/// and asks the system for the rest.
///   loopback.test       127.0.0.1          metadata.test   169.254.169.254
///   linklocal6.test     fe80::1            mapped.test     ::ffff:169.254.169.254
///   both.test           169.254.169.254 and 127.0.0.1
///   hang.test           none, until HangingResolver ends
class HangingResolver {
 public:
  HangingResolver();
  ~HangingResolver();
  HangingResolver(const HangingResolver&) = delete;
  HangingResolver& operator=(const HangingResolver&) = delete;

  /// Waits until a thread hangs.
  void AwaitThread();
  /// How many of the signals that matter to PostgreSQL the thread that hangs could handle.
  static int SignalsOfThread();
};

}  // namespace ai::test
