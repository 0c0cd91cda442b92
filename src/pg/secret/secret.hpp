// API keys of providers, stored by the functions in sql/functions/secret.sql.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

struct Secret {
  std::string value;
  std::optional<std::string> hosts;  // as HostList reads them; none: the provider's own
};

/// The secret of that name, if it exists. Throws pg::Error if the role must not use it.
std::optional<Secret> FindSecret(Oid role, std::string_view name);

/// Keeps the arguments of ai.set_secret, keys passed to functions, and headers out of the server's
/// log, which contains the text of statements. Called once, when the library is loaded.
void InstallSecretLogFilter();

/// Cuts the statement that pg_stat_activity shows for this session where a secret may follow.
/// Throws pg::Error.
void HideFromActivity();

/// Where in a statement a secret may begin; null if nowhere. Plain C.
const char* SecretFollows(const char* statement);

/// The same for the current statement of this session, which may also execute a prepared one.
const char* SecretInCurrentStatement();

}  // namespace ai::pg
