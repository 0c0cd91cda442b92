// A URL that a request may be sent to, taken apart strictly: what two parsers could understand in
// two ways is refused here, so that the host that was checked is the host that is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/ip_address.hpp"
#include "core/result.hpp"

namespace ai::http {

struct Url {
  std::string text;                  // normalised, as it is given to curl
  std::string scheme;                // "http" or "https"
  std::string host;                  // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;            // as written, or that of the scheme
  std::optional<IpAddress> address;  // of a host that is written as an address

  /// scheme://host[:port] for messages: never a path, a query or a name of a user.
  std::string Endpoint() const;

  /// The same with the path, without slashes at its end: what two ways to write one address share.
  std::string Address() const;
};

enum class UrlKind {
  kRequest,  // may have a query
  kBase,     // paths will be appended: no query
};

/// A Failure (configuration) says what is wrong without showing the URL, which may hold a key.
/// Refused: other schemes, names of users, fragments, anything but printable ASCII, backslashes,
/// escapes in the host, hosts that look like numbers, trailing dots of hosts.
Result<Url> ParseUrl(std::string_view text, UrlKind kind = UrlKind::kRequest);

/// Labels of letters, digits, "-" and "_" with dots between them, in lower case, of which the last
/// is no number (as in 127.1 or 0x7f.1, which resolvers take for addresses).
bool IsHostName(std::string_view name);

}  // namespace ai::http
