// What is wrong with the names in a statement. See names_in_text.cpp and names_in_query.cpp.
//
// INVARIANT for all of this module: no C++ object with a destructor lives in any frame, so that
// the server's errors may pass.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
}

namespace security {

/// Which unqualified names are let pass.
enum class Names {
  kQualified,  // none: a statement that a process sends itself
  kCatalog,    // those of pg_catalog: bodies of functions that have pg_catalog as their path
};

/// Names in a text, as the grammar sees them: a list of strings, each a finding.
List* NamesInText(const char* statement, Names allowed);

/// Objects that a statement was found to mean: those that are neither the server's, nor ours, nor
/// pgvector's. Tables of the role itself are allowed in a security-restricted operation, and in a
/// session as long as nobody's rights but its own are used.
List* NamesInQuery(Query* query);

/// Works as expression_tree_walker of PostgreSQL 16; before, the type of the callback has no
/// parameters, which means another thing in C++.
using Walker = bool (*)(Node*, void*);
#if PG_VERSION_NUM >= 160000
inline bool WalkRaw(Node* node, Walker walker, void* context) {
  return raw_expression_tree_walker(node, walker, context);
}
inline bool WalkExpression(Node* node, Walker walker, void* context) {
  return expression_tree_walker(node, walker, context);
}
inline bool WalkQuery(Query* query, Walker walker, void* context, int flags) {
  return query_tree_walker(query, walker, context, flags);
}
#else
inline auto Untyped(Walker walker) {
  return reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker));
}
inline bool WalkRaw(Node* node, Walker walker, void* context) {
  return raw_expression_tree_walker(node, Untyped(walker), context);
}
inline bool WalkExpression(Node* node, Walker walker, void* context) {
  return expression_tree_walker(node, Untyped(walker), context);
}
inline bool WalkQuery(Query* query, Walker walker, void* context, int flags) {
  return query_tree_walker(query, Untyped(walker), context, flags);
}
#endif

}  // namespace security
