// The library's version, whether it was preloaded, and where this code runs.
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/preload.hpp"

AI_FUNCTION(ai_version) {
  return ai::pg::TextDatum(AI_VERSION);
}

AI_FUNCTION(ai_preloaded) {
  PG_RETURN_BOOL(ai::pg::Preloaded());
}

AI_FUNCTION(ai_in_session) {
  PG_RETURN_BOOL(MyBgworkerEntry == nullptr);
}
