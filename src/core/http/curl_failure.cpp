// See curl_failure.hpp.
#include "core/http/curl_failure.hpp"

#include <chrono>
#include <string>
#include <system_error>

namespace ai::http {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestDetail = 200;

/// One line of printable ASCII: a certificate's names are whatever its maker wrote.
std::string Clean(std::string_view text) {
  std::string clean;
  for (const char c : text.substr(0, kLongestDetail)) {
    clean += c >= ' ' && c <= '~' ? c : ' ';
  }
  clean.erase(clean.find_last_not_of(' ') + 1);
  return clean;
}

std::string InMilliseconds(milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

milliseconds Time(CURL* easy, CURLINFO info) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy, info, &microseconds);
  return std::chrono::duration_cast<milliseconds>(std::chrono::microseconds(microseconds));
}

/// The system's words for why a connection failed, with a colon before them.
std::string SystemReason(CURL* easy) {
  long error = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
  return error == 0 ? "" : ": " + std::generic_category().message(static_cast<int>(error));
}

/// Which of the two time-outs it was. A connection stands when its first request could be sent.
std::string TimeoutText(CURL* easy, const std::string& endpoint, const Timeouts& timeouts) {
  curl_off_t connected = 0;
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
  if (connected == 0 && Time(easy, CURLINFO_TOTAL_TIME_T) < timeouts.total) {
    return "could not connect to " + endpoint + " within " + InMilliseconds(timeouts.connect);
  }
  return "no complete answer from " + endpoint + " within " + InMilliseconds(timeouts.total);
}

Failure CertificateFailure(const std::string& endpoint, std::string_view curl_text) {
  return {FailureClass::kConfiguration, "could not verify the certificate of " + endpoint + ": " +
                                            Clean(curl_text) +
                                            " (ai.ca_file names the authorities to trust)"};
}

Failure ConnectionFailure(CURL* easy, CURLcode code, std::string_view curl_text,
                          const std::string& endpoint) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {FailureClass::kTransient, "could not resolve the host name of " + endpoint};
    case CURLE_COULDNT_CONNECT:
      return {FailureClass::kTransient, "could not connect to " + endpoint + SystemReason(easy)};
    case CURLE_SSL_CONNECT_ERROR:
      return {FailureClass::kTransient,
              "TLS handshake with " + endpoint + " failed: " + Clean(curl_text)};
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return {FailureClass::kTransient,
              "connection to " + endpoint + " broke before the answer was complete"};
    default:
      return {FailureClass::kTransient,
              "request to " + endpoint + " failed: " + Clean(curl_easy_strerror(code))};
  }
}

}  // namespace

Failure DescribeFailure(CURL* easy, CURLcode code, std::string_view curl_text, const Url& url,
                        const Timeouts& timeouts) {
  const std::string endpoint = url.Endpoint();
  const std::string_view words = curl_text.empty() ? curl_easy_strerror(code) : curl_text;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {FailureClass::kTransient, TimeoutText(easy, endpoint, timeouts)};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR:
      return CertificateFailure(endpoint, words);
    case CURLE_URL_MALFORMAT:
      return {FailureClass::kConfiguration, "invalid URL of " + endpoint};
    case CURLE_UNSUPPORTED_PROTOCOL:  // an answer that does not begin as HTTP does
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE:  // a header line beyond curl's own limit
#endif
    case CURLE_WRITE_ERROR:  // ours are known to the caller: what is left is decompression
      return {FailureClass::kInvalidReply, "answer of " + endpoint + " is not valid HTTP"};
    default:
      return ConnectionFailure(easy, code, words, endpoint);
  }
}

Failure TooLarge(const Url& url, std::size_t limit, int http_status) {
  return {FailureClass::kInvalidReply,
          "answer of " + url.Endpoint() + " is larger than the limit of " + std::to_string(limit) +
              " bytes",
          http_status};
}

Failure TooSlow(const Url& url, std::size_t bytes, milliseconds window, int http_status) {
  return {FailureClass::kTransient,
          "answer of " + url.Endpoint() + " came too slowly: fewer than " + std::to_string(bytes) +
              " bytes in " + InMilliseconds(window),
          http_status};
}

}  // namespace ai::http
