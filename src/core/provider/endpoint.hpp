// Where requests go. The caller has looked up the key and made sure that it may go to that host.
#pragma once

#include <string>
#include <string_view>

#include "core/http/message.hpp"

namespace ai::provider {

struct Endpoint {
  std::string base_url;
  std::string api_key = {};    // empty: none is sent
  http::Headers headers = {};  // beside our own
  std::string query = {};      // as it stands in a URL, without the question mark
};

/// The URL of path below base_url: exactly one slash between them. Throws Error if base_url is not
/// http or https with a host, or has a user name, a query, a fragment or anything but printable
/// ASCII. What comes back may be shown to users.
std::string JoinUrl(std::string_view base_url, std::string_view path);

/// The host of an absolute URL, without user name and port; empty if there is none.
std::string_view HostOf(std::string_view url);

/// A request to path below the endpoint, with the headers that all providers want.
http::Request MakeRequest(http::Method method, const Endpoint& endpoint, std::string_view path);

}  // namespace ai::provider
