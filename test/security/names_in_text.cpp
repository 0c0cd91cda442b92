// The parser's check: walks the raw tree of a statement, before any name was looked up, and finds
// each one that the search_path would decide. What the grammar itself puts into pg_catalog
// (EXTRACT, INTERVAL, boolean) comes here with its schema. Also found: the forms whose operator
// the parser looks up by a bare name, such as IN, BETWEEN, LIKE, CASE x WHEN, JOIN USING.
#include "findings.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "utils/catcache.h"
}

namespace security {
namespace {

struct Search {
  Names allowed;
  List* queries;  // names of WITH queries that are in scope
  List* found;
};

void Add(Search* search, const char* what, const char* name) {
  search->found = lappend(search->found, psprintf("%s %s", what, name));
}

/// What stands behind a name of pg_catalog, whatever its arguments.
bool InCatalog(int cache, int keys, const char* name) {
  if (keys == 2) {  // the schema is the second key
    return SearchSysCacheExists2(cache, CStringGetDatum(name),
                                 ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
  }
  CatCList* all = SearchSysCacheList1(cache, CStringGetDatum(name));
  bool found = false;
  for (int i = 0; i < all->n_members && !found; ++i) {
    const HeapTuple tuple = &all->members[i]->tuple;
    const Oid schema = cache == PROCNAMEARGSNSP
                           ? reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->pronamespace
                       : cache == OPERNAMENSP
                           ? reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple))->oprnamespace
                           : reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple))->collnamespace;
    found = schema == PG_CATALOG_NAMESPACE;
  }
  ReleaseSysCacheList(all);
  return found;
}

/// A name in the grammar's form: a list of strings, the last one the name itself.
void CheckName(Search* search, const char* what, List* names, int cache, int keys) {
  if (list_length(names) >= 2) {
    return;
  }
  const char* name = names == NIL ? "" : strVal(linitial(names));
  if (search->allowed == Names::kQualified || !InCatalog(cache, keys, name)) {
    Add(search, what, name);
  }
}

void CheckOperator(Search* search, const char* what, List* names) {
  CheckName(search, what, names, OPERNAMENSP, 1);
}

/// A form that the parser turns into operators of its own choice.
void CheckForm(Search* search, const char* form) {
  if (search->allowed == Names::kQualified) {
    Add(search, "operator of", form);
  }
}

bool IsQuery(const Search* search, const char* name) {
  ListCell* cell = nullptr;
  foreach (cell, search->queries) {
    if (std::strcmp(static_cast<const char*>(lfirst(cell)), name) == 0) {
      return true;
    }
  }
  return false;
}

void CheckRelation(Search* search, const RangeVar* relation) {
  if (relation->schemaname != nullptr || IsQuery(search, relation->relname)) {
    return;
  }
  if (search->allowed == Names::kQualified || !InCatalog(RELNAMENSP, 2, relation->relname)) {
    Add(search, "relation", relation->relname);
  }
}

void CheckExpression(Search* search, const A_Expr* expression) {
  switch (expression->kind) {
    case AEXPR_OP:
    case AEXPR_OP_ANY:
    case AEXPR_OP_ALL:
      CheckOperator(search, "operator", expression->name);
      return;
    case AEXPR_DISTINCT:
    case AEXPR_NOT_DISTINCT:
      return CheckForm(search, "IS DISTINCT FROM");
    case AEXPR_NULLIF:
      return CheckForm(search, "NULLIF");
    case AEXPR_IN:
      return CheckForm(search, "IN");
    case AEXPR_LIKE:
    case AEXPR_ILIKE:
    case AEXPR_SIMILAR:
      return CheckForm(search, "LIKE");
    default:
      return CheckForm(search, "BETWEEN");
  }
}

void CheckSubLink(Search* search, const SubLink* link) {
  if (link->operName != NIL) {
    CheckOperator(search, "operator", link->operName);
  } else if (link->testexpr != nullptr) {
    CheckForm(search, "IN");
  }
}

void CheckIndexElement(Search* search, const IndexElem* element) {
  if (element->opclass != NIL && list_length(element->opclass) < 2) {
    Add(search, "operator class", strVal(linitial(element->opclass)));
  }
  if (element->collation != NIL) {
    CheckName(search, "collation", element->collation, COLLNAMEENCNSP, 1);
  }
}

/// One node, without what is below it.
void CheckNode(Search* search, Node* node) {
  switch (nodeTag(node)) {
    case T_FuncCall:
      CheckName(search, "function", castNode(FuncCall, node)->funcname, PROCNAMEARGSNSP, 1);
      break;
    case T_TypeName:
      if (castNode(TypeName, node)->names != NIL) {
        CheckName(search, "type", castNode(TypeName, node)->names, TYPENAMENSP, 2);
      }
      break;
    case T_A_Expr:
      CheckExpression(search, castNode(A_Expr, node));
      break;
    case T_CaseExpr:
      if (castNode(CaseExpr, node)->arg != nullptr) {
        CheckForm(search, "CASE x WHEN");
      }
      break;
    case T_SubLink:
      CheckSubLink(search, castNode(SubLink, node));
      break;
    case T_SortBy:
      if (castNode(SortBy, node)->useOp != NIL) {
        CheckOperator(search, "operator", castNode(SortBy, node)->useOp);
      }
      break;
    case T_JoinExpr:
      if (castNode(JoinExpr, node)->usingClause != NIL || castNode(JoinExpr, node)->isNatural) {
        CheckForm(search, "JOIN USING");
      }
      break;
    case T_CollateClause:
      CheckName(search, "collation", castNode(CollateClause, node)->collname, COLLNAMEENCNSP, 1);
      break;
    case T_RangeTableSample:
      CheckName(search, "function", castNode(RangeTableSample, node)->method, PROCNAMEARGSNSP, 1);
      break;
    case T_IndexElem:
      CheckIndexElement(search, castNode(IndexElem, node));
      break;
    case T_RangeVar:
      CheckRelation(search, castNode(RangeVar, node));
      break;
    default:
      break;
  }
}

WithClause* WithOf(Node* node) {
  switch (nodeTag(node)) {
    case T_SelectStmt:
      return castNode(SelectStmt, node)->withClause;
    case T_InsertStmt:
      return castNode(InsertStmt, node)->withClause;
    case T_UpdateStmt:
      return castNode(UpdateStmt, node)->withClause;
    case T_DeleteStmt:
      return castNode(DeleteStmt, node)->withClause;
    case T_MergeStmt:
      return castNode(MergeStmt, node)->withClause;
    default:
      return nullptr;
  }
}

bool Walk(Node* node, void* context);

/// A WITH query sees those before it, or all if they are recursive.
void WalkWith(Search* search, const WithClause* with) {
  ListCell* cell = nullptr;
  if (with->recursive) {
    foreach (cell, with->ctes) {
      search->queries = lappend(search->queries, lfirst_node(CommonTableExpr, cell)->ctename);
    }
  }
  foreach (cell, with->ctes) {
    auto* query = lfirst_node(CommonTableExpr, cell);
    Walk(query->ctequery, search);
    search->queries = lappend(search->queries, query->ctename);
  }
}

bool Walk(Node* node, void* context) {
  auto* search = static_cast<Search*>(context);
  // What is in WITH was looked at with the statement that has it; FOR UPDATE OF names aliases.
  if (node == nullptr || IsA(node, WithClause) || IsA(node, LockingClause)) {
    return false;
  }
  CheckNode(search, node);
  const WithClause* with = WithOf(node);
  if (with == nullptr) {
    return WalkRaw(node, Walk, context);
  }
  List* outer = list_copy(search->queries);
  WalkWith(search, with);
  WalkRaw(node, Walk, context);
  search->queries = outer;
  return false;
}

void CheckIndex(Search* search, IndexStmt* statement) {
  CheckRelation(search, statement->relation);
  Walk(reinterpret_cast<Node*>(statement->indexParams), search);
  Walk(statement->whereClause, search);
}

void CheckDrop(Search* search, const DropStmt* statement) {
  ListCell* cell = nullptr;
  foreach (cell, statement->objects) {
    if (!IsA(lfirst(cell), List) || list_length(lfirst_node(List, cell)) < 2) {
      Add(search, "object", "of DROP");
    }
  }
}

/// Statements other than queries: those that we are known to run.
void CheckStatement(Search* search, Node* statement) {
  switch (nodeTag(statement)) {
    case T_SelectStmt:
    case T_InsertStmt:
    case T_UpdateStmt:
    case T_DeleteStmt:
    case T_MergeStmt:
      Walk(statement, search);
      break;
    case T_LockStmt:
      Walk(reinterpret_cast<Node*>(castNode(LockStmt, statement)->relations), search);
      break;
    case T_IndexStmt:
      CheckIndex(search, castNode(IndexStmt, statement));
      break;
    case T_DropStmt:
      CheckDrop(search, castNode(DropStmt, statement));
      break;
    default:
      Add(search, "statement", "of a kind that this check does not know");
      break;
  }
}

}  // namespace

List* NamesInText(const char* statement, Names allowed) {
  Search search = {allowed, NIL, NIL};
  ListCell* cell = nullptr;
  foreach (cell, raw_parser(statement, RAW_PARSE_DEFAULT)) {
    CheckStatement(&search, lfirst_node(RawStmt, cell)->stmt);
  }
  return search.found;
}

}  // namespace security
