// Between a configuration and a provider that can be asked: which address, which key, which limits.
#pragma once

#include "core/http/transport.hpp"
#include "core/json/value.hpp"
#include "core/provider/provider.hpp"
#include "core/provider/registry.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// Where a provider's requests go on behalf of a role. With a key of its own (api_key), that one is
/// sent; otherwise the secret that the configuration names, if it may go to that host. Throws Error
/// or pg::Error, before anything is sent: an address or a key that cannot be used, a secret that
/// the role must not use or that is not there.
provider::Endpoint ResolveEndpoint(const json::Value& config, Oid role,
                                   const std::optional<std::string>& api_key);

/// The address of a configuration's provider, in the one way to write it that ai.provider has.
/// Empty if it has none, or none that can be used.
std::string ProviderAddress(const json::Value& config);

/// What the environment of the server says to providers.
provider::Environment ProviderEnvironment();

/// Puts the limits of the settings, or of the configuration, into a request.
void ApplyLimits(const json::Value& config, http::Request& request);

/// The transport of this process, made anew after a change of the settings it depends on.
/// INVARIANT: whoever uses it leaves nothing under way.
http::Transport& SessionTransport();

/// Raises what a provider or a transport failed with, for the user of a SQL function.
[[noreturn]] void ThrowFailure(const Failure& failure);

}  // namespace ai::pg
