// Ways to end the process that calls: for rows that kill the worker that has them.
#include <csignal>

#include "pg/datum.hpp"
#include "pg/guard.hpp"

AI_FUNCTION(border_end) {
  const std::string_view how = ai::pg::Utf8View(PG_GETARG_DATUM(0));
  if (how == "signal") {
    // The default action: the server's handlers must not see it.
    pqsignal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  ai::pg::Call([] { ereport(FATAL, errmsg("the end, as asked for")); });
  PG_RETURN_VOID();
}
