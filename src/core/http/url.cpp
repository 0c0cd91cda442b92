// See url.hpp.
#include "core/http/url.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>
#include <utility>

#include "core/http/ascii.hpp"

namespace ai::http {
namespace {

constexpr std::size_t kLongestUrl = 8192;
constexpr std::size_t kLongestHost = 253;
constexpr std::size_t kLongestLabel = 63;

struct CurlUrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct CurlTextDeleter {
  void operator()(char* text) const { curl_free(text); }
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f');
}

bool IsNumber(std::string_view label) {
  if (label.starts_with("0x")) {
    return std::all_of(label.begin() + 2, label.end(), IsHexDigit);
  }
  return std::all_of(label.begin(), label.end(), IsDigit);
}

bool IsLabel(std::string_view label) {
  const auto allowed = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= kLongestLabel && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), allowed);
}

Failure Invalid(std::string_view what) {
  return {FailureClass::kConfiguration, "invalid URL: " + std::string(what)};
}

/// What is wrong with the characters of the text, null if nothing.
const char* CharacterProblem(std::string_view text) {
  if (text.size() > kLongestUrl) {
    return "it is too long";
  }
  for (const char c : text) {
    if (c <= ' ' || c > '~') {
      return "it contains a blank, a control character or a character that is not ASCII";
    }
    if (c == '\\') {
      return "it contains a backslash";
    }
  }
  return nullptr;
}

/// Between "://" and what comes next. Its characters are the ones that leave no room for tricks.
const char* AuthorityProblem(std::string_view authority) {
  if (authority.empty()) {
    return "it has no host";
  }
  if (authority.find('@') != std::string_view::npos) {
    return "it contains the name of a user";
  }
  const auto allowed = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || std::string_view("-_.:[]").find(c) < 6;
  };
  const std::string lower = Lower(authority);
  return std::all_of(lower.begin(), lower.end(), allowed) ? nullptr : "its host is not a host name";
}

/// Without the port, of an authority that is not an IPv6 address.
bool IsHost(std::string_view authority) {
  const std::string_view host = authority.substr(0, authority.find(':'));
  return IpAddress::Parse(host).has_value() || IsHostName(host);
}

struct Parts {
  std::string scheme;
  std::string authority;
};

Result<Parts> SplitAuthority(std::string_view text, UrlKind kind) {
  const std::size_t colon = text.find("://");
  Parts parts{Lower(text.substr(0, colon)), {}};
  if (colon == std::string_view::npos || (parts.scheme != "http" && parts.scheme != "https")) {
    return Invalid("it does not begin with http:// or https://");
  }
  if (text.find('#') != std::string_view::npos) {
    return Invalid("it has a fragment");
  }
  if (kind == UrlKind::kBase && text.find('?') != std::string_view::npos) {
    return Invalid("a base URL must not have a query");
  }
  const std::string_view rest = text.substr(colon + 3);
  parts.authority = Lower(rest.substr(0, rest.find_first_of("/?")));
  if (const char* problem = AuthorityProblem(parts.authority)) {
    return Invalid(problem);
  }
  // Before curl makes an address of a number, as in 127.1 or 0x7f.1.
  if (!parts.authority.starts_with('[') && !IsHost(parts.authority)) {
    return Invalid("its host or port is malformed");
  }
  return parts;
}

/// A part of a URL as curl sees it, empty if it has none.
std::string Part(CURLU* handle, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(handle, part, &text, flags);
  const std::unique_ptr<char, CurlTextDeleter> owner(text);
  if (code == CURLUE_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  return code == CURLUE_OK ? std::string(text) : std::string();
}

std::uint16_t ParsePort(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() ? port : std::uint16_t{0};
}

/// Sets host and address from the host as curl understood it.
bool SetHost(Url& url, std::string host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    url.address = IpAddress::Parse(std::string_view(host).substr(1, host.size() - 2));
    url.host = url.address ? url.address->ToText() : "";
    return url.address.has_value();
  }
  url.host = std::move(host);
  url.address = IpAddress::Parse(url.host);
  return url.address.has_value() || IsHostName(url.host);
}

}  // namespace

std::string Url::Endpoint() const {
  const bool brackets = host.find(':') != std::string::npos;
  std::string text_of_host = brackets ? "[" + host + "]" : host;
  const std::uint16_t default_port = scheme == "https" ? 443 : 80;
  return scheme + "://" + text_of_host + (port == default_port ? "" : ":" + std::to_string(port));
}

std::string Url::Address() const {
  const std::size_t path = text.find('/', text.find("://") + 3);
  std::string whole = Endpoint() + (path == std::string::npos ? "" : text.substr(path));
  while (whole.ends_with('/')) {
    whole.pop_back();
  }
  return whole;
}

bool IsHostName(std::string_view name) {
  if (name.empty() || name.size() > kLongestHost) {
    return false;
  }
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view label = name.substr(0, dot);
    if (!IsLabel(label)) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return !IsNumber(label);
    }
    name.remove_prefix(dot + 1);
  }
}

Result<Url> ParseUrl(std::string_view text, UrlKind kind) {
  if (const char* problem = CharacterProblem(text)) {
    return Invalid(problem);
  }
  Result<Parts> parts = SplitAuthority(text, kind);
  if (!parts) {
    return parts.failure();
  }
  const std::unique_ptr<CURLU, CurlUrlDeleter> handle(curl_url());
  if (handle == nullptr) {
    throw std::bad_alloc();
  }
  const std::string terminated(text);
  const CURLUcode code =
      curl_url_set(handle.get(), CURLUPART_URL, terminated.c_str(), CURLU_DISALLOW_USER);
  if (code == CURLUE_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (code != CURLUE_OK) {
    return Invalid("its host or port is malformed");
  }
  Url url;
  url.scheme = parts->scheme;
  url.text = Part(handle.get(), CURLUPART_URL);
  url.port = ParsePort(Part(handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
  if (url.port == 0 || !SetHost(url, Lower(Part(handle.get(), CURLUPART_HOST)))) {
    return Invalid("its host or port is malformed");
  }
  return url;
}

}  // namespace ai::http
