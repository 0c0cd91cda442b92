// The background processes as seen by SQL: which one this is, the process pool, and waking the
// coordinator.
#include "worker/process/process.hpp"
#include "core/json/writer.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/shared/control.hpp"
#include "worker/shared/pool.hpp"

// The component that this process is. A session is none; but inside a function of the API, which
// runs as the extension's owner, it acts for a user who is allowed to.
AI_FUNCTION(ai_process_role) {
  if (const char* component = ai::worker::MyComponent(); component != nullptr) {
    PG_RETURN_TEXT_P(cstring_to_text(component));
  }
  if (InLocalUserIdChange()) {
    PG_RETURN_TEXT_P(cstring_to_text("api"));
  }
  PG_RETURN_NULL();
}

AI_FUNCTION(ai_coordinator_notify) {
  ai::worker::AskCoordinator();
  PG_RETURN_VOID();
}

// ai._pool(): the process pool as seen by this database. Null where nothing is served.
AI_FUNCTION(ai_pool) {
  const auto figures = ai::worker::DescribePool(MyDatabaseId);
  if (!figures) {
    PG_RETURN_NULL();
  }
  std::string text;
  ai::json::Writer writer(text);
  writer.BeginObject().Key("size").Integer(figures->size);
  writer.Key("processes").Integer(figures->processes);
  writer.Key("waiting_databases").Integer(figures->waiting_databases);
  writer.Key("state").String(figures->state);
  writer.Key("workers").Integer(figures->workers);
  writer.Key("refused").Bool(figures->refused);
  writer.Key("waited").Bool(figures->waited);
  writer.EndObject();
  return ai::pg::JsonbDatum(text);
}
