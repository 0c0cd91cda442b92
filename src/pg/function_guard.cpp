// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "pg/function_guard.hpp"

#include "pg/owner_scope.hpp"

namespace ai::pg {

namespace {

needs_fmgr_hook_type next_needs_hook = nullptr;
fmgr_hook_type next_hook = nullptr;

Oid ExtensionOwner() {
  Oid owner = InvalidOid;
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
              CStringGetDatum("ai"));
  Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, ExtensionNameIndexId, true, nullptr, 1, &key);
  if (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple)) {
    owner = reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extowner;
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return owner;
}

Oid FunctionOwner(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) {
    return InvalidOid;
  }
  const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
  ReleaseSysCache(tuple);
  return owner;
}

/// Built-in functions never get here.
bool IsTrusted(Oid function) {
  const Oid owner = FunctionOwner(function);
  return superuser_arg(owner) || owner == ExtensionOwner();
}

/// A function for which this is true is not inlined either.
bool NeedsHook(Oid function) {
  return (next_needs_hook != nullptr && next_needs_hook(function)) ||
         (function >= FirstNormalObjectId && !IsTrusted(function));
}

void OnCall(FmgrHookEventType event, FmgrInfo* info, Datum* argument) {
  if (event == FHET_START && !RunsOwnersCode() && info->fn_oid >= FirstNormalObjectId &&
      !IsTrusted(info->fn_oid) && (superuser() || GetUserId() == ExtensionOwner())) {
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("background process must not run function %s of role \"%s\" as superuser",
                   format_procedure(info->fn_oid),
                   GetUserNameFromId(FunctionOwner(info->fn_oid), true)),
            errhint("Unless the function is an attempt to attack this server, report this as a "
                    "bug in the extension \"ai\"."));
  }
  if (next_hook != nullptr) {
    next_hook(event, info, argument);
  }
}

}  // namespace

void InstallFunctionGuard() {
  next_needs_hook = needs_fmgr_hook;
  needs_fmgr_hook = NeedsHook;
  next_hook = fmgr_hook;
  fmgr_hook = OnCall;
}

}  // namespace ai::pg
