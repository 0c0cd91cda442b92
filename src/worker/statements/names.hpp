// What the statements of a vectorizer are built from: the names of its tables and columns, and the
// few options that change a statement. All quoted and schema-qualified: whatever the search_path,
// no user object can take the place of one of the server's. test/t/068 checks.
#pragma once

#include <initializer_list>

#include "pg/postgres.hpp"

namespace ai::worker {

/// A column of the key, by its name in each table.
struct KeyColumn {
  std::string source;
  std::string queue;  // in the queue, the work table and the failed table
  std::string target;
  std::string equals;  // the operator

  bool operator==(const KeyColumn&) const = default;
};

/// Equal ones make equal statements.
struct VectorizerNames {
  std::int32_t id = 0;
  std::string source;  // as written after FROM
  std::string target;
  std::string queue;
  std::string work;
  std::string failed;
  Oid failed_table = InvalidOid;
  std::vector<KeyColumn> key;
  std::string key_as_jsonb;         // of a row g of the work table or the failed table
  std::vector<std::string> loaded;  // expressions of a row s of the source, the text first
  std::string vector;               // the type
  std::string embedding_column;     // of the source; empty if the destination is a table
  bool by_priority = false;         // rows have priorities

  bool operator==(const VectorizerNames&) const = default;
};

/// pgvector's type, and that of arrays of it.
struct VectorTypes {
  explicit VectorTypes(Oid vector);

  Oid element;
  Oid array;
};

/// Builds statements from templates. In braces:
///
// clang-format off
///   {source} {target} {queue} {work} {failed}  a table
///   {vector}                                   the type
///   {key} {target key}                         columns of the key in our own tables, in the target
///   {key of q}                                 the same of a row q
///   {w matches q}                              whether two rows have the same key
// clang-format on
///
/// where s is a row of the source, t one of the target, and any other letter one of our own tables.
class StatementTexts final {
 public:
  /// Additional placeholders of one statement.
  using Values = std::initializer_list<std::pair<std::string_view, std::string>>;

  /// Records all statements, if a list is given.
  explicit StatementTexts(const VectorizerNames& its_names,
                          std::vector<std::string>* kept = nullptr)
      : names(its_names), kept_(kept) {}

  std::string Fill(std::string_view text, Values values = {}) const;

  const VectorizerNames& names;

 private:
  std::string ValueOf(std::string_view name) const;

  std::vector<std::string>* kept_;
};

}  // namespace ai::worker
