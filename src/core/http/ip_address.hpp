// An IPv4 or IPv6 address, and the kinds of addresses that matter for where a request may go.
//
// An IPv4 address is kept as the IPv6 address it is mapped to (::ffff:a.b.c.d), so that both ways
// to write it are one and the same.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ai::http {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes = {};

  /// Four decimal numbers with dots, or IPv6 without brackets and zone. Nothing else: what only
  /// inet_aton understands ("127.1", "0x7f.1") is not an address here.
  static std::optional<IpAddress> Parse(std::string_view text);

  /// Nothing if the socket is neither IPv4 nor IPv6.
  static std::optional<IpAddress> FromSocket(const sockaddr& socket, socklen_t size);

  bool is_v4() const;
  std::string ToText() const;

  bool operator==(const IpAddress&) const = default;
};

struct AddressRange {
  IpAddress base;
  unsigned prefix = 128;  // bits, counted in the IPv6 form

  bool Contains(const IpAddress& address) const;
};

/// An address or "address/bits"; nothing if it is neither.
std::optional<AddressRange> ParseAddressRange(std::string_view text);

/// 127.0.0.0/8 and ::1, also when wrapped in an IPv6 address that is translated to IPv4.
bool IsLoopback(const IpAddress& address);

/// Where no request may ever go: link-local, the metadata services of clouds, unspecified,
/// multicast and broadcast, also when wrapped as above.
bool IsForbidden(const IpAddress& address);

}  // namespace ai::http
