// The transport that talks to real servers, over curl: keep-alive, HTTP/2 where a server offers it
// with TLS (one request at a time on a connection all the same), gzip, certificates verified. See
// transport.hpp for how to use it. The time that a request waits for a free connection is part of
// its total time.
//
// What it refuses to do: other protocols than http and https, redirects, cookies, .netrc, proxies
// from the environment unless told so, hosts that are not allowed, addresses that nobody may reach
// (host_policy.hpp; after the name is resolved and before a connection is made). The one request
// that may be sent twice is one that met a kept-alive connection which the server had closed.
//
// It belongs to the process that made it. After a fork every call in the child throws
// Error(kInternal), and the destructor leaves the parent's connections alone. Every descriptor it
// opens is closed by exec. While curl may start a thread, which it does to resolve names, all
// signals are blocked; a thread that hangs there holds up neither Cancel nor the end of the
// process.
#pragma once

#include <sys/types.h>

#include <memory>

#include "core/http/transport.hpp"
#include "core/http/transport_options.hpp"

namespace ai::http {

class CurlSession;

class CurlTransport final : public Transport {
 public:
  /// Throws Error(kNotSupported) if the machine's curl cannot do what is needed.
  explicit CurlTransport(TransportOptions options);
  ~CurlTransport() override;

  RequestId Submit(Request request) override;
  void Drive() override;
  WaitHint NextWait() const override;
  bool Poll(std::chrono::milliseconds at_most, int wake_fd = kNoFd) override;
  std::vector<Completion> Collect() override;
  bool Cancel(RequestId id) override;
  void CancelAll() override;
  std::size_t in_flight() const override;
  void Recycle(std::string&& body) override;

 private:
  /// The session, if this is still the process that made it.
  CurlSession& Session() const;

  pid_t process_;
  std::unique_ptr<CurlSession> session_;
};

}  // namespace ai::http
