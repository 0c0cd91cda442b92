// See ip_address.hpp.
#include "core/http/ip_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace ai::http {
namespace {

constexpr unsigned kV4Offset = 12;      // where the IPv4 address begins in the mapped form
constexpr unsigned kV4PrefixBits = 96;  // what comes before it, in bits
constexpr std::size_t kLongestText = INET6_ADDRSTRLEN;

constexpr IpAddress V4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}};
}

constexpr IpAddress V6(const std::array<std::uint16_t, 8>& groups) {
  IpAddress address;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    address.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    address.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  return address;
}

constexpr IpAddress kLoopbackV6 = V6({0, 0, 0, 0, 0, 0, 0, 1});

constexpr AddressRange kForbidden[] = {
    {V4(0, 0, 0, 0), kV4PrefixBits + 8},       // "this network"; 0.0.0.0 reaches the own machine
    {V4(169, 254, 0, 0), kV4PrefixBits + 16},  // link-local, with most clouds' metadata
    {V4(100, 100, 100, 200), 128},             // metadata of Alibaba Cloud
    {V4(168, 63, 129, 16), 128},               // the platform's service address in Azure
    {V4(224, 0, 0, 0), kV4PrefixBits + 4},     // multicast
    {V4(255, 255, 255, 255), 128},             // broadcast
    {V6({}), 128},                             // unspecified
    {V6({0xfe80}), 10},                        // link-local
    {V6({0xff00}), 8},                         // multicast
    {V6({0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254}), 128},  // metadata of AWS
    {V6({0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254}), 128},   // metadata of Google Cloud
};

/// IPv6 addresses that a network may translate to the IPv4 address inside them.
struct Wrapping {
  AddressRange range;
  unsigned offset;  // where the IPv4 address begins
};

constexpr Wrapping kWrappings[] = {
    {{V6({0x64, 0xff9b}), 96}, kV4Offset},  // NAT64
    {{V6({}), 96}, kV4Offset},              // IPv4-compatible, long out of use
    {{V6({0x2002}), 16}, 2},                // 6to4
};

/// The IPv4 address inside, or the address itself.
IpAddress Unwrap(const IpAddress& address) {
  if (address == kLoopbackV6 || address == IpAddress{}) {
    return address;
  }
  for (const Wrapping& wrapping : kWrappings) {
    if (wrapping.range.Contains(address)) {
      const std::uint8_t* inner = address.bytes.data() + wrapping.offset;
      return V4(inner[0], inner[1], inner[2], inner[3]);
    }
  }
  return address;
}

std::optional<unsigned> ParsePrefix(std::string_view text, unsigned most) {
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error != std::errc() || end != text.data() + text.size() || bits > most) {
    return std::nullopt;
  }
  return bits;
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.size() >= kLongestText || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string terminated(text);
  in_addr v4 = {};
  if (inet_pton(AF_INET, terminated.c_str(), &v4) == 1) {
    IpAddress address = V4(0, 0, 0, 0);
    std::memcpy(address.bytes.data() + kV4Offset, &v4, sizeof(v4));
    return address;
  }
  IpAddress address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) {
    return address;
  }
  return std::nullopt;
}

std::optional<IpAddress> IpAddress::FromSocket(const sockaddr& socket, socklen_t size) {
  if (socket.sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in v4 = {};
    std::memcpy(&v4, &socket, sizeof(v4));
    IpAddress address = V4(0, 0, 0, 0);
    std::memcpy(address.bytes.data() + kV4Offset, &v4.sin_addr, sizeof(v4.sin_addr));
    return address;
  }
  if (socket.sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6 = {};
    std::memcpy(&v6, &socket, sizeof(v6));
    IpAddress address;
    std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof(v6.sin6_addr));
    return address;
  }
  return std::nullopt;
}

bool IpAddress::is_v4() const {
  return AddressRange{V4(0, 0, 0, 0), kV4PrefixBits}.Contains(*this);
}

std::string IpAddress::ToText() const {
  char text[kLongestText] = {};
  if (is_v4()) {
    inet_ntop(AF_INET, bytes.data() + kV4Offset, text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, bytes.data(), text, sizeof(text));
  }
  return text;
}

bool AddressRange::Contains(const IpAddress& address) const {
  const unsigned whole = prefix / 8;
  if (!std::equal(base.bytes.begin(), base.bytes.begin() + whole, address.bytes.begin())) {
    return false;
  }
  const unsigned rest = prefix % 8;
  return rest == 0 || (base.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

std::optional<AddressRange> ParseAddressRange(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<IpAddress> base = IpAddress::Parse(text.substr(0, slash));
  if (!base || slash == std::string_view::npos) {
    return base ? std::optional(AddressRange{*base}) : std::nullopt;
  }
  const bool written_as_v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  const unsigned before = written_as_v4 ? kV4PrefixBits : 0;
  const auto bits = ParsePrefix(text.substr(slash + 1), 128 - before);
  return bits ? std::optional(AddressRange{*base, before + *bits}) : std::nullopt;
}

bool IsLoopback(const IpAddress& address) {
  const IpAddress inner = Unwrap(address);
  return inner == kLoopbackV6 || AddressRange{V4(127, 0, 0, 0), kV4PrefixBits + 8}.Contains(inner);
}

bool IsForbidden(const IpAddress& address) {
  const IpAddress inner = Unwrap(address);
  return std::any_of(std::begin(kForbidden), std::end(kForbidden),
                     [&](const AddressRange& range) { return range.Contains(inner); });
}

}  // namespace ai::http
