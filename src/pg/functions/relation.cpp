// Names of relations and privileges on them, for views over many vectorizers: from the server's
// caches, since catalog queries for each took most of the time.
//
// INVARIANT: nothing here owns C++ memory, so an ereport may pass through.
#include "pg/guard.hpp"

namespace {

bool MayRead(Oid relation, Oid role) {
  bool is_gone = false;
  return pg_class_aclcheck_ext(relation, role, ACL_SELECT, &is_gone) == ACLCHECK_OK && !is_gone;
}

/// The owner may have revoked the right to read from itself.
bool IsOwner(Oid relation, Oid role) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) {
    return false;
  }
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
  ReleaseSysCache(tuple);
  return has_privs_of_role(role, owner);
}

/// The arguments are the name of a role, and source and target as ai.vectorizer has them.
bool IsReadable(FunctionCallInfo fcinfo, Oid role) {
  return (!PG_ARGISNULL(1) &&
          (MayRead(PG_GETARG_OID(1), role) || IsOwner(PG_GETARG_OID(1), role))) ||
         (!PG_ARGISNULL(2) && MayRead(PG_GETARG_OID(2), role));
}

Oid RoleArgument(FunctionCallInfo fcinfo) {
  return get_role_oid(NameStr(*PG_GETARG_NAME(0)), false);
}

}  // namespace

AI_FUNCTION(ai_qualified_name) {
  const Oid relation = PG_GETARG_OID(0);
  const char* name = get_rel_name(relation);
  const char* schema = name == nullptr ? nullptr : get_namespace_name(get_rel_namespace(relation));
  if (schema == nullptr) {
    PG_RETURN_TEXT_P(cstring_to_text(psprintf("\"dropped relation %u\"", relation)));
  }
  PG_RETURN_TEXT_P(cstring_to_text(quote_qualified_identifier(schema, name)));
}

AI_FUNCTION(ai_vectorizer_readable) {
  PG_RETURN_BOOL(!PG_ARGISNULL(0) && IsReadable(fcinfo, RoleArgument(fcinfo)));
}

AI_FUNCTION(ai_vectorizer_visible) {
  PG_RETURN_BOOL(!PG_ARGISNULL(0) && (IsReadable(fcinfo, RoleArgument(fcinfo)) ||
                                      has_privs_of_role(RoleArgument(fcinfo), ROLE_PG_MONITOR)));
}
