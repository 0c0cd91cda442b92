// See curl_transport.hpp.
#include "core/http/curl_transport.hpp"

#include <unistd.h>

#include <utility>

#include "core/error.hpp"
#include "core/http/curl_session.hpp"

namespace ai::http {

CurlTransport::CurlTransport(TransportOptions options)
    : process_(getpid()), session_(std::make_unique<CurlSession>(std::move(options))) {}

CurlTransport::~CurlTransport() {
  if (process_ != getpid()) {
    // Leaked on purpose: closing would say goodbye on the parent's connections.
    (void)session_.release();
  }
}

CurlSession& CurlTransport::Session() const {
  if (process_ != getpid()) {
    throw Error(ErrorCode::kInternal, "transport is used in another process than its own");
  }
  return *session_;
}

RequestId CurlTransport::Submit(Request request) {
  return Session().Submit(std::move(request));
}

void CurlTransport::Drive() {
  Session().Drive();
}

WaitHint CurlTransport::NextWait() const {
  return Session().NextWait();
}

bool CurlTransport::Poll(std::chrono::milliseconds at_most, int wake_fd) {
  return Session().Poll(at_most, wake_fd);
}

std::vector<Completion> CurlTransport::Collect() {
  return Session().Collect();
}

bool CurlTransport::Cancel(RequestId id) {
  return Session().Cancel(id);
}

void CurlTransport::CancelAll() {
  Session().CancelAll();
}

std::size_t CurlTransport::in_flight() const {
  return Session().in_flight();
}

void CurlTransport::Recycle(std::string&& body) {
  Session().Recycle(std::move(body));
}

}  // namespace ai::http
