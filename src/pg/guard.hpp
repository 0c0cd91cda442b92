// The only two doors between C++ exceptions and PostgreSQL errors.
//
//   Call(fn)      PostgreSQL -> C++: runs fn, an ereport(ERROR) in it becomes a thrown pg::Error
//   Boundary(fn)  C++ -> PostgreSQL: runs fn, an exception from it becomes an ereport(ERROR)
//
// Every function that PostgreSQL calls is a Boundary; every PostgreSQL function that can ereport
// while a C++ object lives is called through Call. After catching a pg::Error, clean up and rethrow
// it. To continue instead, roll back the transaction or subtransaction first (see transaction.hpp).
#pragma once

#include "pg/error.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// Restores PostgreSQL's error stacks however the scope is left. Without it an exception leaving
/// the guarded code would keep PG_exception_stack pointing into a dead frame.
class ErrorStackScope final {
 public:
  ErrorStackScope() noexcept
      : exception_stack_(PG_exception_stack), context_stack_(error_context_stack) {}
  ~ErrorStackScope() {
    PG_exception_stack = exception_stack_;
    error_context_stack = context_stack_;
  }
  ErrorStackScope(const ErrorStackScope&) = delete;
  ErrorStackScope& operator=(const ErrorStackScope&) = delete;

 private:
  sigjmp_buf* exception_stack_;
  ErrorContextCallback* context_stack_;
};

/// INVARIANT: fn holds only trivially destructible objects, since ereport() longjmps out of it
/// without unwinding; what it captures, it captures by reference.
template <typename Fn>
auto Call(Fn&& fn) -> std::invoke_result_t<Fn> {
  using Value = std::invoke_result_t<Fn>;
  static_assert(std::is_void_v<Value> || std::is_trivially_destructible_v<Value>,
                "a PostgreSQL call must return a trivial value");
  static_assert(std::is_trivially_destructible_v<std::decay_t<Fn>>,
                "capture by reference: ereport() would skip the destructor of a captured value");
  MemoryContext caller_context = CurrentMemoryContext;
  const ErrorStackScope restore_stacks;
  sigjmp_buf jump_target;

  if (sigsetjmp(jump_target, 0) == 0) {
    PG_exception_stack = &jump_target;
    return fn();
  }
  MemoryContextSwitchTo(caller_context);
  throw Error::Take();
}

/// The report is raised after the catch block has ended, when every C++ object, the exception
/// itself included, has been destroyed: an ereport inside a catch block leaks the exception.
template <typename Fn>
auto Boundary(Fn&& fn) -> std::invoke_result_t<Fn> {
  ErrorData* postgres_error = nullptr;
  ErrorReport report;

  try {
    return fn();
  } catch (const Error& error) {
    postgres_error = error.Release();
  } catch (const ai::Error& error) {
    report.Fill(error);
  } catch (const std::bad_alloc& error) {
    report.Fill(error);
  } catch (const std::exception& error) {
    report.Fill(error);
  } catch (...) {
    report.FillUnknown();
  }

  if (postgres_error != nullptr) {
    ReThrowError(postgres_error);
  }
  Raise(report);
}

/// The InterruptCheck for long-running core code. True when a cancel, a timeout or a termination is
/// waiting; the core then unwinds with Error(kCancelled), and Raise() lets the server say why. What
/// else is pending (a barrier, for one) is handled here and now.
/// INVARIANT: does not throw, since libraries without unwind tables may be among its callers.
bool ServeInterrupts() noexcept;

}  // namespace ai::pg

/// Defines the SQL-callable function `name` (exported, so it begins with ai_) with a C++ body.
#define AI_FUNCTION(name)                                              \
  static Datum name##_body(FunctionCallInfo fcinfo);                   \
  extern "C" {                                                         \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS);                            \
  PG_FUNCTION_INFO_V1(name);                                           \
  Datum name(PG_FUNCTION_ARGS) {                                       \
    return ai::pg::Boundary([fcinfo] { return name##_body(fcinfo); }); \
  }                                                                    \
  }                                                                    \
  static Datum name##_body([[maybe_unused]] FunctionCallInfo fcinfo)
