// The requests of a transport and curl's multi handle that moves them. Does all the work of
// CurlTransport except to notice a fork. Internal: includes curl.
//
// INVARIANT: never waits, except in Poll.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/http/buffer_pool.hpp"
#include "core/http/curl_library.hpp"
#include "core/http/curl_transfer.hpp"
#include "core/http/socket_set.hpp"
#include "core/http/transport.hpp"
#include "core/http/transport_options.hpp"

namespace ai::http {

class CurlSession {
 public:
  explicit CurlSession(TransportOptions options);
  ~CurlSession();
  CurlSession(const CurlSession&) = delete;
  CurlSession& operator=(const CurlSession&) = delete;

  // As in Transport.
  RequestId Submit(Request request);
  void Drive();
  WaitHint NextWait() const;
  bool Poll(std::chrono::milliseconds at_most, int wake_fd);
  std::vector<Completion> Collect();
  bool Cancel(RequestId id);
  void CancelAll();
  std::size_t in_flight() const { return active_.size(); }
  void Recycle(std::string body) { buffers_.Give(std::move(body)); }

 private:
  using Active = std::unordered_map<RequestId, std::unique_ptr<CurlTransfer>>;

  std::optional<Failure> Start(RequestId id, Request request);
  std::unique_ptr<CurlTransfer> TakeIdle();
  void Act(curl_socket_t socket, int ready);
  void CheckMulti(CURLMcode code, const char* what) const;
  void FinishDone();
  void CheckSpeeds(SteadyTime now);
  void End(Active::iterator ended, Result<Response> result);
  void Release(Active::iterator ended) noexcept;

  // Called by curl. INVARIANT: none of them throws.
  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self,
                      void* unused) noexcept;
  static int OnTimer(CURLM* multi, long timeout_ms, void* self) noexcept;

  const TransportOptions options_;
  // INVARIANT: what curl's callbacks use is declared before the handle, so that it ends later.
  SocketSet sockets_;
  std::optional<SteadyTime> timer_ = std::nullopt;
  int watch_error_ = 0;
  BufferPool buffers_;
  MultiHandle multi_;
  Active active_;
  std::vector<std::unique_ptr<CurlTransfer>> idle_;
  std::vector<Completion> finished_;
  std::optional<SteadyTime> speed_check_ = std::nullopt;
  std::uint64_t last_id_ = 0;
};

}  // namespace ai::http
