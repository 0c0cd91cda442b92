// The library's version and whether it was preloaded, for ai.version() and ai.status().
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/library.hpp"

AI_FUNCTION(ai_version) {
  return ai::pg::TextDatum(AI_VERSION);
}

AI_FUNCTION(ai_preloaded) {
  PG_RETURN_BOOL(ai::pg::Preloaded());
}
