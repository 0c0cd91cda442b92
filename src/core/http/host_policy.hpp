// Where requests may go: the list of hosts of a setting, and what a resolved address adds to it.
// Pure: nothing here resolves or connects.
//
//   api.openai.com, *.openai.azure.com, localhost, 127.0.0.1, [::1]:11434, 10.0.0.0/8, *
//
// A name stands for itself, a leading "*." for exactly one label, "*" for every host. A port
// restricts an entry to it. A range holds for hosts written as addresses and for names that are not
// listed but resolve into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/failure.hpp"
#include "core/http/ip_address.hpp"
#include "core/http/url.hpp"

namespace ai::http {

/// The known providers and the own machine.
inline constexpr std::string_view kDefaultAllowedHosts =
    "api.openai.com, *.openai.azure.com, api.voyageai.com, api.cohere.com, api.cohere.ai, "
    "localhost, 127.0.0.1, [::1]";

class HostList {
 public:
  /// Allows nothing.
  HostList() = default;

  /// Throws Error(kInvalidParameter) that names the entry it does not understand.
  static HostList Parse(std::string_view setting);

  /// Whether the host itself is listed.
  bool Allows(const Url& url) const;

  /// Why a request must not be sent, as far as can be told before the host is resolved.
  std::optional<Failure> RefuseHost(const Url& url) const;

  /// Why no connection to this address may be made on behalf of the URL.
  std::optional<Failure> RefuseAddress(const Url& url, const IpAddress& address) const;

 private:
  enum class Kind { kAnyHost, kName, kWildcard, kRange };
  struct Entry {
    Kind kind = Kind::kName;
    std::string name = {};  // of a wildcard: what follows the star, with the dot
    AddressRange range = {};
    std::optional<std::uint16_t> port = std::nullopt;
  };

  static std::optional<Entry> ParseEntry(std::string_view text);
  static bool Matches(const Entry& entry, const Url& url);
  bool ListsName(const Url& url) const;
  bool ListsAddress(const IpAddress& address, std::uint16_t port) const;

  std::vector<Entry> entries_;
};

/// Whether a key that is bound to these hosts may go along with a request to the URL.
inline bool KeyMayGoTo(const HostList& bound_hosts, const Url& url) {
  return bound_hosts.Allows(url);
}

}  // namespace ai::http
