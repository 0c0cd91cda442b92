// Switches from one role's privileges to another's, for the functions of the vectorizer API.
//
// A SECURITY DEFINER function cannot know who called it: the session's role is not the caller
// inside another such function, an index expression or a trigger, and an argument can be forged. So
// the entries of the API are C functions that note the caller and then switch.
//
// INVARIANT: nothing here owns C++ memory but ai_run_as, so an ereport may pass through; the
// rollback that follows it restores the role.
#include "pg/guard.hpp"
#include "pg/owner_scope.hpp"
#include "pg/queue/queue_notes.hpp"
#include "pg/vectorizer_name.hpp"

namespace {

struct Inner {
  FmgrInfo function;
  Oid owner;
  bool returns_set;
  bool takes_id;  // where the outer one takes the name of a vectorizer
};

/// The function that does the work of the one that was called: it has the same name with an
/// underscore before it, and the caller before the arguments. One for the id of a vectorizer serves
/// its name, too.
Inner* FindInner(FmgrInfo* outer) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(outer->fn_oid));
  if (!HeapTupleIsValid(tuple)) {
    elog(ERROR, "cache lookup failed for function %u", outer->fn_oid);
  }
  const auto* proc = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  Oid types[FUNC_MAX_ARGS];
  types[0] = OIDOID;
  for (int i = 0; i < proc->pronargs; ++i) {
    types[i + 1] = proc->proargtypes.values[i];
  }
  List* name = list_make2(makeString(get_namespace_name(proc->pronamespace)),
                          makeString(psprintf("_%s", NameStr(proc->proname))));
  auto* inner = static_cast<Inner*>(MemoryContextAllocZero(outer->fn_mcxt, sizeof(Inner)));
  Oid oid = LookupFuncName(name, proc->pronargs + 1, types, true);
  if (!OidIsValid(oid)) {
    inner->takes_id = proc->pronargs > 0 && types[1] == TEXTOID;
    types[1] = inner->takes_id ? INT4OID : types[1];
    oid = LookupFuncName(name, proc->pronargs + 1, types, false);
  }
  inner->owner = proc->proowner;
  inner->returns_set = proc->proretset;
  fmgr_info_cxt(oid, &inner->function, outer->fn_mcxt);
  ReleaseSysCache(tuple);
  return inner;
}

/// Runs a statement on all that is committed by now; returns the number of rows.
std::int64_t RunNow(const char* statement) {
  SPI_connect();
  SPIPlanPtr plan = SPI_prepare(statement, 0, nullptr);
  if (plan == nullptr) {
    elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
  }
  const int code = SPI_execute_snapshot(plan, nullptr, nullptr, GetLatestSnapshot(),
                                        InvalidSnapshot, false, true, 0);
  if (code < 0) {
    elog(ERROR, "SPI_execute_snapshot failed: %s", SPI_result_code_string(code));
  }
  const auto processed = static_cast<std::int64_t>(SPI_processed);
  SPI_finish();
  return processed;
}

}  // namespace

// Declared as ai.f(args), calls ai._f(caller, args) as the owner of ai.f. A function that returns a
// set is in PL/pgSQL, which returns all of it at once.
AI_FUNCTION(ai_call_as_owner) {
  auto* inner = static_cast<Inner*>(fcinfo->flinfo->fn_extra);
  if (inner == nullptr) {
    inner = FindInner(fcinfo->flinfo);
    fcinfo->flinfo->fn_extra = inner;
  }
  Oid caller = InvalidOid;
  int context = 0;
  GetUserIdAndSecContext(&caller, &context);

  LOCAL_FCINFO(call, FUNC_MAX_ARGS);
  InitFunctionCallInfoData(*call, &inner->function, static_cast<short>(fcinfo->nargs + 1),
                           fcinfo->fncollation, nullptr,
                           inner->returns_set ? fcinfo->resultinfo : nullptr);
  call->args[0].value = ObjectIdGetDatum(caller);
  call->args[0].isnull = false;
  for (int i = 0; i < fcinfo->nargs; ++i) {
    call->args[i + 1] = fcinfo->args[i];
  }
  SetUserIdAndSecContext(inner->owner, context | SECURITY_LOCAL_USERID_CHANGE);
  if (inner->takes_id) {
    call->args[1] = {Int32GetDatum(ai::pg::VectorizerIdOf(fcinfo->args[0])), false};
  }
  const Datum result = FunctionCallInvoke(call);
  SetUserIdAndSecContext(caller, context);
  fcinfo->isnull = call->isnull;
  return result;
}

// ai._run_as(role, statement): planning a query runs functions that the owner of its tables chose
// (in index predicates, for one), so a statement that reads a user's table runs as that user. It
// sees all that is committed by now, whatever the transaction's isolation level: these statements
// come after a lock, and must not miss what was written before.
AI_FUNCTION(ai_run_as) {
  const Oid role = PG_GETARG_OID(0);
  std::int64_t processed = 0;
  ai::pg::RunAsOwner(role, [&] {
    processed = ai::pg::Call([&] { return RunNow(text_to_cstring(PG_GETARG_TEXT_PP(1))); });
  });
  PG_RETURN_INT64(processed);
}

// The set-based statements of the API write to queues too: the workers are woken at commit. Without
// an argument, they poll all queues.
AI_FUNCTION(ai_vectorizer_notify) {
  ai::pg::NoteQueueWritten(PG_NARGS() == 0 ? ai::pg::kEverything : PG_GETARG_OID(0));
  PG_RETURN_VOID();
}

AI_FUNCTION(ai_embedding_jobs_notify) {
  ai::pg::NoteQueueWritten(ai::pg::kJobs);
  PG_RETURN_VOID();
}

// After a statement on ai.vectorizer, by whomever.
AI_FUNCTION(ai_vectorizers_changed) {
  ai::pg::NoteQueueWritten(ai::pg::kEverything);
  return PointerGetDatum(nullptr);
}
