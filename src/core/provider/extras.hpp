// What the caller of a function adds to a request: headers and a query, from the members
// extra_headers and extra_query of a configuration. Stored configurations have neither, for a
// header may hold a key.
#pragma once

#include "core/json/value.hpp"
#include "core/provider/endpoint.hpp"

namespace ai::provider {

/// Adds them to the endpoint. Throws Error, without showing a value, on what could change where a
/// request goes or how long it is, and on values that are neither texts, numbers nor booleans.
void AddExtras(const json::Value& config, Endpoint& endpoint);

}  // namespace ai::provider
