// Resolves a configuration to a usable provider: address, key and limits.
#pragma once

#include "core/http/transport.hpp"
#include "core/json/value.hpp"
#include "core/provider/provider.hpp"
#include "core/provider/registry.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// The endpoint for a role's requests to a provider. An explicit key (api_key) is used if given;
/// otherwise the secret named in the configuration, if it may be sent to that host. Throws Error or
/// pg::Error before anything is sent: for an unusable address or key, or a secret that does not
/// exist or that the role must not use.
provider::Endpoint ResolveEndpoint(const json::Value& config, Oid role,
                                   const std::optional<std::string>& api_key);

/// The address of a configuration's provider, normalized as in ai.provider. Empty if it has none,
/// or an unusable one.
std::string ProviderAddress(const json::Value& config);

/// The provider settings in the server's environment.
provider::Environment ProviderEnvironment();

/// Applies the limits of the settings or the configuration to a request.
void ApplyLimits(const json::Value& config, http::Request& request);

/// The transport of this process, re-created when its settings have changed. INVARIANT: callers
/// leave no request in flight.
http::Transport& SessionTransport();

/// Raises a failure of a provider or the transport as an error of the SQL function.
[[noreturn]] void ThrowFailure(const Failure& failure);

}  // namespace ai::pg
