#include "worker/statements/definition.hpp"

#include <algorithm>

#include "pg/column.hpp"
#include "pg/guard.hpp"

namespace ai::worker {
namespace {

// Loaded bytes stay bytes: whether they are valid text is checked per row.
constexpr const char* kDefinition = R"(
SELECT v.name, v.config::pg_catalog.text AS config, v.source_pk::pg_catalog.text AS key,
  ai._vectorizer_owner(v) AS owner, ai._vectorizer_max_attempts(v.config) AS max_attempts,
  v.source::pg_catalog.oid AS source, v.target::pg_catalog.oid AS target,
  v.queue::pg_catalog.oid AS queue, v.work::pg_catalog.oid AS work,
  v.failed::pg_catalog.oid AS failed,
  ai._from_source(v.source) AS source_name, ai._qualified_name(v.target) AS target_name,
  ai._qualified_name(v.queue) AS queue_name, ai._qualified_name(v.work) AS work_name,
  ai._qualified_name(v.failed) AS failed_name,
  (SELECT pg_catalog.format('%I.vector', n.nspname) FROM pg_catalog.pg_extension e
   JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
   WHERE e.extname OPERATOR(pg_catalog.=) 'vector') AS vector_name,
  ai._key_as_jsonb(v, 'g') AS key_as_jsonb,
  ai._formatting_columns(v.config OPERATOR(pg_catalog.->) 'formatting') AS columns,
  EXISTS (
    SELECT FROM pg_catalog.pg_attribute a, ai._base_type(a.atttypid, a.atttypmod) b
    WHERE a.attrelid OPERATOR(pg_catalog.=) v.source
      AND a.attname OPERATOR(pg_catalog.=) (v.config OPERATOR(pg_catalog.#>>) '{loading,column_name}')
      AND b.type OPERATOR(pg_catalog.=) 'pg_catalog.bytea'::pg_catalog.regtype) AS loads_bytes
FROM ai.vectorizer v WHERE v.id OPERATOR(pg_catalog.=) $1)";

/// For any encoding that is a superset of ASCII byte by byte, as UTF-8 is.
std::string Quoted(std::string_view name) {
  const std::string text(name);
  return pg::Call([&] { return quote_identifier(text.c_str()); });
}

std::vector<KeyColumn> KeyFrom(std::string_view source_pk) {
  const auto document = json::Document::Parse(source_pk);
  std::vector<json::Value> entries;
  for (const json::Value& entry : document.root().items()) {
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const json::Value& left, const json::Value& right) {
    return left.GetInteger("pknum") < right.GetInteger("pknum");
  });
  std::vector<KeyColumn> key;
  key.reserve(entries.size());
  for (const json::Value& entry : entries) {
    key.push_back({.source = Quoted(entry.GetString("attname")),
                   .queue = Quoted(entry.GetString("queue_column")),
                   .target = Quoted(entry.GetString("target_column")),
                   .equals = std::string(entry.GetString("equals"))});
  }
  return key;
}

std::vector<std::string> LoadedFrom(std::string_view text_column, bool bytes,
                                    std::span<const std::string> columns) {
  std::vector<std::string> loaded = {"s." + Quoted(text_column) +
                                     (bytes ? "::pg_catalog.bytea" : "::pg_catalog.text")};
  for (const std::string& column : columns) {
    loaded.push_back("s." + Quoted(column) + "::pg_catalog.text");
  }
  return loaded;
}

/// Of the columns above, in the first row. Where there is no name, there is no table.
VectorizerNames NamesFrom(const pg::Rows& rows, std::int32_t id, const json::Value& config,
                          std::span<const std::string> columns) {
  const auto text = [&](const char* name) {
    return std::string(pg::TextColumn(rows, name).Find(0, {}));
  };
  const json::Value destination = config.At("destination");
  const auto processing = config.Find("processing");
  VectorizerNames names{.id = id,
                        .source = text("source_name"),
                        .target = text("target_name"),
                        .queue = text("queue_name"),
                        .work = text("work_name"),
                        .failed = text("failed_name"),
                        .failed_table = pg::OidColumn(rows, "failed")[0],
                        .key = KeyFrom(text("key")),
                        .key_as_jsonb = text("key_as_jsonb"),
                        .vector = text("vector_name")};
  names.loaded = LoadedFrom(config.At("loading").GetString("column_name"),
                            pg::BoolColumn(rows, "loads_bytes")[0], columns);
  if (destination.GetString("implementation") == "column") {
    names.embedding_column = Quoted(destination.GetString("embedding_column"));
  }
  names.by_priority = processing && !processing->GetString("priority_column", "").empty();
  return names;
}

}  // namespace

std::optional<VectorizerDefinition> LoadDefinition(pg::Spi& spi, std::int32_t id) {
  const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(id)}};
  const pg::Rows rows = spi.Execute(kDefinition, arguments);
  if (rows.count() == 0) {
    return std::nullopt;
  }
  VectorizerDefinition definition{
      .name = std::string(pg::TextColumn(rows, "name")[0]),
      .config = json::Document::Parse(pg::TextColumn(rows, "config")[0]),
      .owner = pg::OidColumn(rows, "owner").Find(0, InvalidOid),
      .source = pg::OidColumn(rows, "source")[0],
      .target = pg::OidColumn(rows, "target").Find(0, InvalidOid),
      .queue = pg::OidColumn(rows, "queue")[0],
      .work = pg::OidColumn(rows, "work")[0],
      .max_attempts = pg::Int4Column(rows, "max_attempts")[0]};
  for (const auto& column : pg::TextArrayColumn(rows, "columns")[0]) {
    definition.columns.emplace_back(column.value());
  }
  definition.names = NamesFrom(rows, id, definition.config.root(), definition.columns);
  return definition;
}

}  // namespace ai::worker
