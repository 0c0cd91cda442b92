#include "pg/secret.hpp"

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/role.hpp"
#include "pg/spi.hpp"

namespace ai::pg {

std::optional<Secret> FindSecret(Oid role, std::string_view name) {
  const Datum name_datum = TextDatum(name);
  const RoleScope as_superuser(BOOTSTRAP_SUPERUSERID);
  Spi spi;
  const Argument arguments[] = {{OIDOID, ObjectIdGetDatum(role)}, {TEXTOID, name_datum}};
  const Rows rows = spi.Execute(
      "SELECT value, pg_catalog.array_to_string(hosts, ',') FROM ai._resolve_secret($1, $2)",
      arguments);
  const auto value = rows.At(0, 0);
  if (!value) {
    return std::nullopt;
  }
  Secret secret{std::string(Utf8View(*value)), std::nullopt};
  if (const auto hosts = rows.At(0, 1)) {
    secret.hosts = std::string(Utf8View(*hosts));
  }
  return secret;
}

}  // namespace ai::pg
