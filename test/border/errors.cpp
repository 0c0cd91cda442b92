// Errors across the border, in both directions, guarded and not.
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/spi.hpp"
#include "pg/transaction.hpp"
#include "tracked.hpp"

using ai::pg::Boundary;
using ai::pg::Call;
using border::Tracked;

extern "C" {
PG_MODULE_MAGIC;
}

namespace {

constexpr std::size_t kTrackedBytes = 65536;

void RaiseWithEveryField() {
  ereport(ERROR, errcode(ERRCODE_UNIQUE_VIOLATION), errmsg("raised by the server"),
          errdetail("the detail"), errhint("the hint"), errcontext("the context"));
}

/// An exception with a payload, so that one that is never destroyed shows in the memory.
class HeavyException : public std::runtime_error {
 public:
  HeavyException()
      : std::runtime_error("heavy"), payload_(std::make_shared<const Tracked>(kTrackedBytes)) {}

 private:
  std::shared_ptr<const Tracked> payload_;
};

void ThrowOneOf(std::string_view kind) {
  const Tracked witness(kTrackedBytes);
  if (kind == "heavy") {
    throw HeavyException();
  }
  if (kind == "standard") {
    throw std::runtime_error("a standard exception");
  }
  if (kind == "memory") {
    throw std::bad_alloc();
  }
  if (kind == "number") {
    throw 42;  // NOLINT(hicpp-exception-baseclass): anything can be thrown
  }
  if (kind == "long") {
    throw ai::Error(ai::ErrorCode::kInvalidText, std::string(2046, 'x') + "\xC3\xA9\xC3\xA9");
  }
  if (kind == "cancelled") {
    throw ai::Error(ai::ErrorCode::kCancelled, "canceling on request");
  }
  throw ai::Error(ai::ErrorCode::kLimitExceeded, "a core error", "The detail.", "The hint.");
}

}  // namespace

AI_FUNCTION(border_live_objects) {
  PG_RETURN_INT32(border::live_objects);
}

// The server's error, through the guard: the witness must be destroyed and no field lost.
AI_FUNCTION(border_guarded_ereport) {
  const Tracked witness(kTrackedBytes);
  Call(RaiseWithEveryField);
  PG_RETURN_VOID();
}

AI_FUNCTION(border_throw) {
  ThrowOneOf(ai::pg::Utf8View(PG_GETARG_DATUM(0)));
  PG_RETURN_VOID();
}

// C++ -> SQL -> C++ -> server error: each door is passed twice.
AI_FUNCTION(border_nested) {
  const Tracked witness(kTrackedBytes);
  ai::pg::Spi spi;
  spi.Execute("SELECT border_guarded_ereport()");
  PG_RETURN_VOID();
}

// Swallows the server's error in a subtransaction and goes on working.
AI_FUNCTION(border_recover) {
  const Tracked witness(kTrackedBytes);
  ai::pg::Spi spi;
  try {
    const ai::pg::Subtransaction subtransaction;
    spi.Execute("CREATE TABLE border_never()");
    spi.Execute("SELECT 1/0");
  } catch (const ai::pg::Error& error) {
    if (error.sqlstate() != ERRCODE_DIVISION_BY_ZERO) {
      throw;
    }
  }
  const auto rows = spi.Execute("SELECT pg_catalog.to_regclass('border_never') IS NULL");
  PG_RETURN_DATUM(rows.At(0, 0).value());
}

// Runs for as long as nobody cancels, the way the core does it.
AI_FUNCTION(border_run_until_cancelled) {
  const Tracked witness(kTrackedBytes);
  while (true) {
    ai::CheckInterrupt(ai::pg::ServeInterrupts);
  }
}

// The two forbidden things, for comparison.
extern "C" {
PGDLLEXPORT Datum border_unguarded_ereport(PG_FUNCTION_ARGS);
PG_FUNCTION_INFO_V1(border_unguarded_ereport);
Datum border_unguarded_ereport(PG_FUNCTION_ARGS) {
  const Tracked witness(kTrackedBytes);
  RaiseWithEveryField();
  PG_RETURN_VOID();
}

PGDLLEXPORT Datum border_unguarded_throw(PG_FUNCTION_ARGS);
PG_FUNCTION_INFO_V1(border_unguarded_throw);
Datum border_unguarded_throw(PG_FUNCTION_ARGS) {
  ThrowOneOf("standard");
  PG_RETURN_VOID();
}
}
