// What the functions in sql/functions/secret.sql cannot do in SQL.
#include "core/http/host_policy.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"

extern "C" Datum ai_call_as_owner(PG_FUNCTION_ARGS);

// The setting that belongs to the name of a secret: OPENAI_API_KEY is in ai.openai_api_key.
AI_FUNCTION(ai_secret_setting) {
  const std::string name = "ai." + std::string(ai::pg::Utf8View(PG_GETARG_DATUM(0)));
  constexpr std::string_view kKeys = "_api_key";
  if (name.size() < kKeys.size() ||
      pg_strcasecmp(name.c_str() + name.size() - kKeys.size(), kKeys.data()) != 0) {
    PG_RETURN_NULL();
  }
  return ai::pg::TextDatum(ai::pg::StringSetting(name.c_str()));
}

AI_FUNCTION(ai_secret_environment) {
  const std::string name(ai::pg::Utf8View(PG_GETARG_DATUM(0)));
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    PG_RETURN_NULL();
  }
  return ai::pg::TextDatum(value);
}

AI_FUNCTION(ai_check_hosts) {
  if (!PG_ARGISNULL(0)) {
    for (const auto& host : ai::pg::TextArray(PG_GETARG_DATUM(0))) {
      if (!host || host->find(',') != std::string_view::npos) {
        throw ai::Error(ai::ErrorCode::kInvalidParameter, "hosts must be an array of host names");
      }
      ai::http::HostList::Parse(*host);
    }
  }
  PG_RETURN_VOID();
}

// ai.set_secret: as ai_call_as_owner, and pg_stat_activity forgets the text of the statement.
AI_FUNCTION(ai_set_secret) {
  return ai::pg::Call([fcinfo] {
    pgstat_report_activity(STATE_RUNNING, "SELECT ai.set_secret (hidden)");
    return ai_call_as_owner(fcinfo);
  });
}
