// Keys of providers, as the functions in sql/60-secret.sql know them.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

struct Secret {
  std::string value;
  std::optional<std::string> hosts;  // as HostList reads them; none: the provider's own
};

/// The secret of that name, none if there is none. Throws pg::Error if the role must not use it.
std::optional<Secret> FindSecret(Oid role, std::string_view name);

/// Keeps the arguments of ai.set_secret and of everything called api_key out of the server's log,
/// which gets the text of statements. Called once, when the library is loaded.
void InstallSecretLogFilter();

}  // namespace ai::pg
