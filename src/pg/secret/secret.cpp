#include "pg/secret/secret.hpp"

#include "pg/column.hpp"
#include "pg/guard.hpp"
#include "pg/role.hpp"

namespace ai::pg {

std::optional<Secret> FindSecret(Oid role, std::string_view name) {
  const Datum name_datum = TextDatum(name);
  const RoleScope as_superuser(BOOTSTRAP_SUPERUSERID);
  Spi spi;
  const Argument arguments[] = {{OIDOID, ObjectIdGetDatum(role)}, {TEXTOID, name_datum}};
  const Rows rows = spi.Execute(
      "SELECT value, pg_catalog.array_to_string(hosts, ',') AS hosts "
      "FROM ai._resolve_secret($1, $2)",
      arguments);
  const auto value = TextColumn(rows, "value").Find(0);
  if (!value) {
    return std::nullopt;
  }
  Secret secret{std::string(*value), std::nullopt};
  if (const auto hosts = TextColumn(rows, "hosts").Find(0)) {
    secret.hosts = std::string(*hosts);
  }
  return secret;
}

}  // namespace ai::pg
