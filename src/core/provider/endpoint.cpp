// See endpoint.hpp.
#include "core/provider/endpoint.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "core/error.hpp"
#include "core/provider/ascii.hpp"

namespace ai::provider {
namespace {

[[noreturn]] void Refuse(const char* message, const char* hint) {
  throw Error(ErrorCode::kInvalidParameter, message, {}, hint);
}

/// What stands between "scheme://" and the path; empty if the URL does not begin like that.
std::string_view AuthorityOf(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos || url.find_first_of("/?#") != colon + 1) {
    return {};
  }
  url.remove_prefix(colon + 3);
  return url.substr(0, url.find_first_of("/?#\\"));
}

std::string_view WithoutUser(std::string_view authority) {
  return authority.substr(authority.rfind('@') + 1);  // npos + 1 is 0
}

/// The length of the host that an authority without a user begins with.
std::size_t HostLength(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    return bracket == std::string_view::npos ? 0 : bracket + 1;
  }
  return std::min(authority.find(':'), authority.size());
}

bool HasScheme(std::string_view url, std::string_view scheme) {
  return url.size() > scheme.size() && std::equal(scheme.begin(), scheme.end(), url.begin(),
                                                  [](char a, char b) { return a == Lower(b); });
}

/// Nothing, or a colon and a number.
bool IsPort(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  return text.empty() || (text[0] == ':' && std::from_chars(text.data() + 1, end, port) ==
                                                std::from_chars_result{end, std::errc()});
}

void Check(std::string_view base_url) {
  constexpr const char* kHint = "A base URL looks like \"https://api.example.com/v1\".";
  if (!std::all_of(base_url.begin(), base_url.end(),
                   [](char c) { return c > ' ' && c < '\x7F' && c != '\\'; })) {
    Refuse("base_url has a character that is not allowed in a URL", kHint);
  }
  const std::string_view authority = AuthorityOf(base_url);
  if ((!HasScheme(base_url, "http://") && !HasScheme(base_url, "https://")) || authority.empty()) {
    Refuse("base_url must begin with http:// or https:// and a host name", kHint);
  }
  if (authority.find('@') != std::string_view::npos) {
    Refuse("base_url must not have a user name", "Give the key by the name of a secret.");
  }
  if (base_url.find_first_of("?#") != std::string_view::npos) {
    Refuse("base_url must have neither a query nor a fragment", kHint);
  }
  const std::size_t host = HostLength(authority);
  if (host == 0 || !IsPort(authority.substr(host))) {
    Refuse("base_url must have a host name and, if any, a port from 0 to 65535", kHint);
  }
}

}  // namespace

std::string JoinUrl(std::string_view base_url, std::string_view path) {
  Check(base_url);
  while (base_url.ends_with('/')) {
    base_url.remove_suffix(1);
  }
  return std::string(base_url).append("/").append(path);
}

std::string_view HostOf(std::string_view url) {
  const std::string_view authority = WithoutUser(AuthorityOf(url));
  return authority.substr(0, HostLength(authority));
}

http::Request MakeRequest(http::Method method, const Endpoint& endpoint, std::string_view path) {
  http::Request request;
  request.method = method;
  request.url = JoinUrl(endpoint.base_url, path);
  if (!endpoint.query.empty()) {
    request.url.append("?").append(endpoint.query);
  }
  request.headers.Add("Accept", "application/json");
  if (method == http::Method::kPost) {
    request.headers.Add("Content-Type", "application/json");
  }
  if (!endpoint.api_key.empty()) {
    request.headers.Add("Authorization", "Bearer " + endpoint.api_key);
  }
  for (const http::Header& header : endpoint.headers) {
    request.headers.Add(header.name, header.value);
  }
  return request;
}

}  // namespace ai::provider
