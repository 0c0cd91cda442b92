// The check of what names have come to mean: each function, operator, type, collation and relation
// of an analysed statement is the server's, ours or pgvector's, and none is in a temporary schema.
#include "findings.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
}

namespace security {
namespace {

struct Search {
  Oid ai;
  Oid vector;
  bool own;  // only what the role itself has is at stake
  List* found;
};

Oid SchemaOfExtension(const char* name) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
              CStringGetDatum(name));
  Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, ExtensionNameIndexId, true, nullptr, 1, &key);
  Oid schema = InvalidOid;
  if (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple)) {
    schema = reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extnamespace;
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return schema;
}

bool IsTrusted(const Search* search, Oid schema) {
  return schema == PG_CATALOG_NAMESPACE || schema == search->ai || schema == search->vector;
}

void Check(Search* search, const char* what, Oid schema, const char* name) {
  if (!IsTrusted(search, schema)) {
    const char* schema_name = get_namespace_name(schema);
    search->found = lappend(search->found,
                            psprintf("%s %s in %s", what, name == nullptr ? "that is gone" : name,
                                     schema_name == nullptr ? "no schema" : schema_name));
  }
}

void CheckFunction(Search* search, Oid function) {
  Check(search, "function", get_func_namespace(function), get_func_name(function));
}

void CheckOperator(Search* search, Oid op) {
  if (!OidIsValid(op)) {
    return;
  }
  HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(op));
  if (HeapTupleIsValid(tuple)) {
    const auto* row = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple));
    Check(search, "operator", row->oprnamespace, NameStr(row->oprname));
    ReleaseSysCache(tuple);
  }
}

void CheckOperators(Search* search, const List* operators) {
  ListCell* cell = nullptr;
  foreach (cell, operators) {
    CheckOperator(search, lfirst_oid(cell));
  }
}

/// Types of the columns of a role's own tables are its own; so they are only looked at where a
/// statement names them, in casts and constants.
void CheckType(Search* search, Oid type) {
  if (!OidIsValid(type) || search->own) {
    return;
  }
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (HeapTupleIsValid(tuple)) {
    const auto* row = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
    Check(search, "type", row->typnamespace, NameStr(row->typname));
    ReleaseSysCache(tuple);
  }
}

void CheckCollation(Search* search, Oid collation) {
  HeapTuple tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
  if (HeapTupleIsValid(tuple)) {
    const auto* row = reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple));
    Check(search, "collation", row->collnamespace, NameStr(row->collname));
    ReleaseSysCache(tuple);
  }
}

void CheckRelation(Search* search, Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) {
    return;
  }
  const auto* row = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  const bool own =
      search->own && row->relowner == GetUserId() && row->relpersistence != RELPERSISTENCE_TEMP;
  if (!own) {
    Check(search, "relation", row->relnamespace, NameStr(row->relname));
  }
  ReleaseSysCache(tuple);
}

void CheckExpression(Search* search, Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      CheckFunction(search, castNode(FuncExpr, node)->funcid);
      CheckType(search, castNode(FuncExpr, node)->funcresulttype);
      break;
    case T_Aggref:
      CheckFunction(search, castNode(Aggref, node)->aggfnoid);
      break;
    case T_WindowFunc:
      CheckFunction(search, castNode(WindowFunc, node)->winfnoid);
      break;
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      CheckOperator(search, reinterpret_cast<OpExpr*>(node)->opno);
      break;
    case T_ScalarArrayOpExpr:
      CheckOperator(search, castNode(ScalarArrayOpExpr, node)->opno);
      break;
    case T_RowCompareExpr:
      CheckOperators(search, castNode(RowCompareExpr, node)->opnos);
      break;
    case T_Const:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_ArrayCoerceExpr:
    case T_ConvertRowtypeExpr:
    case T_CoerceToDomain:
      CheckType(search, exprType(node));
      break;
    case T_CollateExpr:
      CheckCollation(search, castNode(CollateExpr, node)->collOid);
      break;
    case T_SortGroupClause:
      CheckOperator(search, castNode(SortGroupClause, node)->eqop);
      CheckOperator(search, castNode(SortGroupClause, node)->sortop);
      break;
    default:
      break;
  }
}

bool Walk(Node* node, void* context) {
  auto* search = static_cast<Search*>(context);
  if (node == nullptr) {
    return false;
  }
  if (IsA(node, RangeTblEntry)) {
    auto* entry = castNode(RangeTblEntry, node);
    if (entry->rtekind == RTE_RELATION) {
      CheckRelation(search, entry->relid);
    }
    return false;  // what is in it comes next
  }
  if (IsA(node, Query)) {
    return WalkQuery(castNode(Query, node), Walk, context,
                     QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
  }
  CheckExpression(search, node);
  return WalkExpression(node, Walk, context);
}

}  // namespace

List* NamesInQuery(Query* query) {
  Search search = {get_namespace_oid("ai", true), SchemaOfExtension("vector"),
                   InSecurityRestrictedOperation() ||
                       (MyBgworkerEntry == nullptr && GetUserId() == GetSessionUserId()),
                   NIL};
  Walk(reinterpret_cast<Node*>(query), &search);
  return search.found;
}

}  // namespace security
