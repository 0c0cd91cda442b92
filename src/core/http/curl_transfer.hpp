// One request on its way: curl's handle for it, what curl reads while it is sent, and what has come
// back so far. Reused for the next request when it has ended.
//
// INVARIANT: an object stays where it is as long as curl knows its handle: curl keeps pointers to
// it and into its request.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/http/buffer_pool.hpp"
#include "core/http/curl_library.hpp"
#include "core/http/transport.hpp"
#include "core/http/transport_options.hpp"
#include "core/http/url.hpp"

namespace ai::http {

class CurlTransfer {
 public:
  explicit CurlTransfer(const TransportOptions& options);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  /// The object that an easy handle belongs to.
  static CurlTransfer& Of(CURL* easy);

  CURL* easy() const { return easy_.get(); }
  RequestId id() const { return id_; }

  /// Takes a request over and sets the handle up for it. An answer takes a buffer when it begins to
  /// come. INVARIANT: the pool lives until then.
  void Prepare(RequestId id, Request request, Url url, BufferPool& buffers);

  /// What came of it. The handle must not be in use any more.
  Result<Response> Finish(CURLcode code);

  /// A failure if the answer has begun and came too slowly since the last time this was asked
  /// and a window ago.
  std::optional<Failure> CheckSpeed(SteadyTime now);

  /// Lets go of request, answer and settings, for the next Prepare.
  void Reset();

 private:
  void SetConnectionOptions();
  void SetRequestOptions();
  void SetCallbacks();
  void SetHeaders();
  int HttpStatus() const;
  bool TakeHeader(std::string_view line);
  bool TakeBody(std::string_view bytes);
  bool MayConnect(const sockaddr& address, socklen_t size);
  std::optional<Failure> OwnFailure() const;

  // Called by curl. INVARIANT: none of them throws.
  static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose,
                                    curl_sockaddr* address) noexcept;

  const TransportOptions& options_;
  EasyHandle easy_;
  std::array<char, CURL_ERROR_SIZE> error_text_ = {};

  RequestId id_ = {};
  Request request_ = {};
  Url url_ = {};
  HeaderList header_list_ = {};
  Response response_ = {};
  BufferPool* buffers_ = nullptr;
  std::size_t header_bytes_ = 0;

  bool too_large_ = false;
  bool out_of_memory_ = false;
  bool opened_socket_ = false;
  std::optional<Failure> refused_ = std::nullopt;  // the last address that was not allowed

  // Since when and from how many bytes on the speed is measured.
  std::optional<SteadyTime> window_start_ = std::nullopt;
  std::size_t window_bytes_ = 0;
};

}  // namespace ai::http
