// See curl_transfer.hpp.
#include "core/http/curl_transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "core/http/ascii.hpp"
#include "core/http/curl_failure.hpp"

namespace ai::http {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxReserved = std::size_t{16} << 20;
constexpr std::size_t kSpare = 64;  // for the padding that an in-place reader appends to a body
constexpr long kBufferBytes = 128L << 10;

long Milliseconds(std::chrono::milliseconds time) {
  // For curl 0 means no limit at all.
  return static_cast<long>(std::max<std::chrono::milliseconds::rep>(time.count(), 1));
}

void Append(HeaderList& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) {
    throw std::bad_alloc();
  }
  (void)list.release();
  list.reset(longer);
}

}  // namespace

CurlTransfer::CurlTransfer(const TransportOptions& options)
    : options_(options), easy_(curl_easy_init()) {
  if (easy_ == nullptr) {
    throw std::bad_alloc();
  }
}

CurlTransfer& CurlTransfer::Of(CURL* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return *reinterpret_cast<CurlTransfer*>(self);
}

void CurlTransfer::Prepare(RequestId id, Request request, Url url, BufferPool& buffers) {
  id_ = id;
  request_ = std::move(request);
  url_ = std::move(url);
  buffers_ = &buffers;
  SetConnectionOptions();
  SetCallbacks();
  SetRequestOptions();
  SetHeaders();
}

void CurlTransfer::SetConnectionOptions() {
  CURL* const easy = easy_.get();
  SetOption(easy, CURLOPT_NOSIGNAL, 1L);
  SetOption(easy, CURLOPT_QUICK_EXIT, 1L);  // never wait for a resolver that hangs
  SetOption(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  SetOption(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  SetOption(easy, CURLOPT_FOLLOWLOCATION, 0L);
  SetOption(easy, CURLOPT_NETRC, long{CURL_NETRC_IGNORED});
  SetOption(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  // Not checked: curl 7.88 refuses it for a handle that shared an HTTP/2 connection before. That
  // one reads in smaller pieces then, as large as those of HTTP/2.
  (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kBufferBytes);
  SetOption(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  SetOption(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  SetOption(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!options_.ca_file.empty()) {
    SetOption(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    // Else the system's directory of authorities would be trusted too.
    SetOption(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!options_.proxy_from_environment) {
    SetOption(easy, CURLOPT_PROXY, "");
  }
}

void CurlTransfer::SetCallbacks() {
  CURL* const easy = easy_.get();
  void* const self = this;
  SetOption(easy, CURLOPT_PRIVATE, self);
  SetOption(easy, CURLOPT_ERRORBUFFER, error_text_.data());
  SetOption(easy, CURLOPT_HEADERFUNCTION, &CurlTransfer::OnHeader);
  SetOption(easy, CURLOPT_HEADERDATA, self);
  SetOption(easy, CURLOPT_WRITEFUNCTION, &CurlTransfer::OnBody);
  SetOption(easy, CURLOPT_WRITEDATA, self);
  SetOption(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::OnOpenSocket);
  SetOption(easy, CURLOPT_OPENSOCKETDATA, self);
}

void CurlTransfer::SetRequestOptions() {
  CURL* const easy = easy_.get();
  SetOption(easy, CURLOPT_URL, url_.text.c_str());
  SetOption(easy, CURLOPT_USERAGENT, options_.user_agent.c_str());
  SetOption(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  SetOption(easy, CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(request_.timeouts.connect));
  SetOption(easy, CURLOPT_TIMEOUT_MS, Milliseconds(request_.timeouts.total));
  // Ends an answer that announces its size; one that does not ends in TakeBody.
  SetOption(easy, CURLOPT_MAXFILESIZE_LARGE,
            static_cast<curl_off_t>(std::max<std::size_t>(request_.max_response_bytes, 1)));
  if (request_.method == Method::kGet) {
    SetOption(easy, CURLOPT_HTTPGET, 1L);
    return;
  }
  SetOption(easy, CURLOPT_POST, 1L);
  SetOption(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  SetOption(easy, CURLOPT_POSTFIELDS, request_.body.c_str());
}

void CurlTransfer::SetHeaders() {
  for (const Header& field : request_.headers) {
    // For curl a name with a colon and no value means: leave this header out.
    const bool has_value = !Trim(field.value).empty();
    Append(header_list_, has_value ? field.name + ": " + field.value : field.name + ";");
  }
  // Without this, curl waits up to a second for a permission to send a large body.
  Append(header_list_, "Expect:");
  if (!request_.headers.Find("Content-Type")) {
    Append(header_list_, "Content-Type:");  // curl would claim a form
  }
  SetOption(easy_.get(), CURLOPT_HTTPHEADER, header_list_.get());
}

int CurlTransfer::HttpStatus() const {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

bool CurlTransfer::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    too_large_ = true;
    return false;
  }
  if (line.starts_with("HTTP/")) {
    response_.headers = {};  // what came before was of an interim answer
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    response_.headers.AddReceived(line.substr(0, colon), Trim(line.substr(colon + 1)));
  }
  return true;
}

bool CurlTransfer::TakeBody(std::string_view bytes) {
  std::string& body = response_.body;
  if (bytes.size() > request_.max_response_bytes - body.size()) {
    too_large_ = true;
    return false;
  }
  if (body.empty()) {
    body = buffers_->Take();
    curl_off_t announced = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    if (announced > 0) {
      body.reserve(std::min(static_cast<std::size_t>(announced), kMaxReserved) + kSpare);
    }
  }
  body.append(bytes);
  return true;
}

bool CurlTransfer::MayConnect(const sockaddr& address, socklen_t size) {
  if (options_.proxy_from_environment) {
    // The address may be the proxy's, which the administrator chose; only the proxy knows the
    // other.
    return true;
  }
  const std::optional<IpAddress> ip = IpAddress::FromSocket(address, size);
  if (!ip) {
    return false;
  }
  std::optional<Failure> refused = options_.allowed_hosts.RefuseAddress(url_, *ip);
  if (refused) {
    refused_ = std::move(refused);
    return false;
  }
  return true;
}

std::size_t CurlTransfer::OnHeader(char* data, std::size_t size, std::size_t count,
                                   void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
    return transfer.TakeHeader({data, size * count}) ? size * count : 0;
  } catch (...) {
    transfer.out_of_memory_ = true;
    return 0;
  }
}

std::size_t CurlTransfer::OnBody(char* data, std::size_t size, std::size_t count,
                                 void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
    return transfer.TakeBody({data, size * count}) ? size * count : 0;
  } catch (...) {
    transfer.out_of_memory_ = true;
    return 0;
  }
}

curl_socket_t CurlTransfer::OnOpenSocket(void* self, curlsocktype,
                                         curl_sockaddr* address) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
    if (!transfer.MayConnect(address->addr, address->addrlen)) {
      return CURL_SOCKET_BAD;
    }
  } catch (...) {
    transfer.out_of_memory_ = true;
    return CURL_SOCKET_BAD;
  }
  transfer.opened_socket_ = true;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::optional<Failure> CurlTransfer::OwnFailure() const {
  if (out_of_memory_) {
    return Failure{FailureClass::kTransient, "out of memory during a request to " + url_.Endpoint(),
                   HttpStatus()};
  }
  if (too_large_) {
    return TooLarge(url_, request_.max_response_bytes, HttpStatus());
  }
  return opened_socket_ ? std::nullopt : refused_;
}

Result<Response> CurlTransfer::Finish(CURLcode code) {
  if (code == CURLE_OK) {
    response_.status = HttpStatus();
    return std::move(response_);
  }
  if (code == CURLE_FILESIZE_EXCEEDED) {
    too_large_ = true;
  }
  if (std::optional<Failure> own = OwnFailure()) {
    return *std::move(own);
  }
  Failure failure = DescribeFailure(easy_.get(), code, error_text_.data(), url_, request_.timeouts);
  failure.http_status = HttpStatus();
  return failure;
}

std::optional<Failure> CurlTransfer::CheckSpeed(SteadyTime now) {
  if (header_bytes_ == 0) {
    return std::nullopt;
  }
  const std::size_t bytes = header_bytes_ + response_.body.size();
  const LowSpeed& limit = options_.low_speed;
  if (window_start_ && now - *window_start_ < limit.window) {
    return std::nullopt;
  }
  if (window_start_ && bytes - window_bytes_ < limit.bytes) {
    return TooSlow(url_, limit.bytes, limit.window, HttpStatus());
  }
  window_start_ = now;
  window_bytes_ = bytes;
  return std::nullopt;
}

void CurlTransfer::Reset() {
  curl_easy_reset(easy_.get());
  error_text_[0] = '\0';
  request_ = {};
  url_ = {};
  header_list_.reset();
  response_ = {};
  header_bytes_ = 0;
  too_large_ = false;
  out_of_memory_ = false;
  opened_socket_ = false;
  refused_.reset();
  window_start_.reset();
  window_bytes_ = 0;
}

}  // namespace ai::http
