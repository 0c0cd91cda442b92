// See host_policy.hpp.
#include "core/http/host_policy.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/http/ascii.hpp"

namespace ai::http {
namespace {

constexpr std::size_t kMaxEntries = 1000;

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return std::nullopt;
  }
  return port;
}

/// Of "[::1]:80", "::1", "host:80" and "10.0.0.0/8" what is before the port, without brackets.
struct HostAndPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

std::optional<HostAndPort> SplitPort(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (host.find(':') == std::string_view::npos || (!rest.empty() && rest[0] != ':')) {
      return std::nullopt;
    }
    return HostAndPort{host, rest.empty() ? std::nullopt : std::optional(rest.substr(1))};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return HostAndPort{text, std::nullopt};
  }
  return HostAndPort{text.substr(0, colon), text.substr(colon + 1)};
}

bool IsLoopbackHost(const Url& url) {
  return url.address ? IsLoopback(*url.address)
                     : url.host == "localhost" || url.host.ends_with(".localhost");
}

Failure Refusal(const Url& url, const std::string& why) {
  return {FailureClass::kConfiguration, "request to " + url.Endpoint() + " was refused: " + why};
}

std::string Quoted(const Url& url) {
  return "host \"" + url.host + "\"";
}

}  // namespace

std::optional<HostList::Entry> HostList::ParseEntry(std::string_view text) {
  const std::optional<HostAndPort> parts = SplitPort(text);
  if (!parts) {
    return std::nullopt;
  }
  Entry entry;
  if (parts->port) {
    entry.port = ParsePort(*parts->port);
    if (!entry.port) {
      return std::nullopt;
    }
  }
  const std::string host = Lower(parts->host);
  if (const std::optional<AddressRange> range = ParseAddressRange(host)) {
    entry.kind = Kind::kRange;
    entry.range = *range;
    return entry;
  }
  if (host == "*") {
    entry.kind = Kind::kAnyHost;
    return entry;
  }
  const bool wildcard = host.starts_with("*.");
  entry.kind = wildcard ? Kind::kWildcard : Kind::kName;
  entry.name = wildcard ? host.substr(1) : host;
  if (!IsHostName(wildcard ? std::string_view(host).substr(2) : std::string_view(host))) {
    return std::nullopt;
  }
  return entry;
}

HostList HostList::Parse(std::string_view setting) {
  HostList list;
  while (!Trim(setting).empty()) {
    const std::size_t comma = setting.find(',');
    const std::string_view text = Trim(setting.substr(0, comma));
    const std::optional<Entry> entry = ParseEntry(text);
    if (!entry) {
      throw Error(ErrorCode::kInvalidParameter,
                  "invalid entry \"" + std::string(text) + "\" in a list of hosts", {},
                  "Write names, addresses or ranges such as api.openai.com, *.example.com, "
                  "localhost:11434, [::1] or 10.0.0.0/8, separated by commas.");
    }
    if (list.entries_.size() == kMaxEntries) {
      throw Error(ErrorCode::kLimitExceeded, "too many entries in a list of hosts");
    }
    list.entries_.push_back(*entry);
    setting = comma == std::string_view::npos ? std::string_view() : setting.substr(comma + 1);
  }
  return list;
}

bool HostList::Matches(const Entry& entry, const Url& url) {
  if (entry.port && *entry.port != url.port) {
    return false;
  }
  switch (entry.kind) {
    case Kind::kAnyHost:
      return true;
    case Kind::kName:
      return !url.address && url.host == entry.name;
    case Kind::kWildcard: {
      const std::size_t dot = url.host.find('.');
      return !url.address && dot != std::string::npos && dot > 0 &&
             std::string_view(url.host).substr(dot) == entry.name;
    }
    case Kind::kRange:
      return url.address && entry.range.Contains(*url.address);
  }
  return false;
}

bool HostList::ListsName(const Url& url) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.kind == Kind::kName && Matches(entry, url);
  });
}

bool HostList::ListsAddress(const IpAddress& address, std::uint16_t port) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.kind == Kind::kRange && (!entry.port || *entry.port == port) &&
           entry.range.Contains(address);
  });
}

bool HostList::Allows(const Url& url) const {
  if (url.address && IsForbidden(*url.address)) {
    return false;
  }
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return Matches(entry, url); });
}

std::optional<Failure> HostList::RefuseHost(const Url& url) const {
  if (url.address && IsForbidden(*url.address)) {
    return RefuseAddress(url, *url.address);
  }
  // A range that is a single address is no invitation to resolve any name that somebody gives.
  const bool address_may_decide =
      !url.address && std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return entry.kind == Kind::kRange && entry.range.prefix < 128;
      });
  if (Allows(url) || address_may_decide) {
    return std::nullopt;
  }
  return Refusal(url, Quoted(url) + " is not listed in ai.allowed_hosts");
}

std::optional<Failure> HostList::RefuseAddress(const Url& url, const IpAddress& address) const {
  if (IsForbidden(address)) {
    Failure refusal = Refusal(url, Quoted(url) + " is at " + address.ToText() +
                                       ", a link-local, metadata or otherwise reserved address, "
                                       "which ai.allowed_hosts cannot allow");
    refusal.hint = "Use another address: no setting allows this one.";
    return refusal;
  }
  if (IsLoopback(address) && !IsLoopbackHost(url) && !ListsName(url)) {
    return Refusal(url, Quoted(url) + " is at the loopback address " + address.ToText() +
                            " but is not listed by its name in ai.allowed_hosts");
  }
  if (!Allows(url) && !ListsAddress(address, url.port)) {
    return Refusal(url, "neither " + Quoted(url) + " nor its address " + address.ToText() +
                            " is listed in ai.allowed_hosts");
  }
  return std::nullopt;
}

}  // namespace ai::http
