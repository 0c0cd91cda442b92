// Failures of providers, in words that name the endpoint, the model, the status and what the
// provider said; never a key or a text.
#pragma once

#include <string_view>

#include "core/clock.hpp"
#include "core/failure.hpp"
#include "core/http/message.hpp"
#include "core/provider/endpoint.hpp"

namespace ai::provider {

/// Where a reply comes from. INVARIANT: all of it outlives the object.
struct Origin {
  const Endpoint& endpoint;
  std::string_view path;
  std::string_view model;  // empty: the request was not about one
};

/// For a reply whose status is not 200.
Failure ErrorReply(const Origin& origin, const http::Response& response, WallTime now);

/// For a reply of status 200 that cannot be used: problem continues "reply ...". If the reply is in
/// truth an error, as some proxies send them, it is classified as that.
Failure InvalidReply(const Origin& origin, const http::Response& response, std::string_view problem,
                     WallTime now);

}  // namespace ai::provider
