#include "worker/vectorizer.hpp"

#include "core/text/chunking.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/token_tables.hpp"
#include "worker/extension.hpp"

namespace ai::worker {
namespace {

std::string HashSeed(const json::Value& embedding) {
  return std::string(embedding.GetString("implementation")) + '\n' +
         std::string(embedding.GetString("model")) + '\n' +
         std::to_string(embedding.GetInteger("dimensions", 0));
}

/// Nobody says when REASSIGN OWNED gives a source another owner, and it is with that role's rights
/// on the queue that rows are read. One whom somebody else changes just now is not waited for.
void FollowOwner(pg::Spi& spi, std::span<const pg::Argument> id) {
  spi.Execute(
      "SELECT ai._vectorizer_follow_owner(l.v) FROM (SELECT v FROM ai.vectorizer v "
      "WHERE v.id OPERATOR(pg_catalog.=) $1 AND v.owner_role OPERATOR(pg_catalog.<>) "
      "pg_catalog.pg_get_userbyid(ai._vectorizer_owner(v)) FOR NO KEY UPDATE SKIP LOCKED) l",
      id);
}

}  // namespace

Statements::Statements(Text text, Oid vector_array, bool column)
    : claim(text("claim"), {TIDOID, TIDOID, INT8OID, UUIDOID}),
      read(text("read"), {TIDARRAYOID, INT8OID}),
      retry_due(text("retry_due"), {INT8OID, UUIDOID}),
      suspects(text("suspects"), {BOOLOID, INT8OID, UUIDOID}),
      held(text("held"), {TIDARRAYOID, UUIDOID}),
      done(text("done"), {TIDARRAYOID, UUIDOID}),
      give_back(text("give_back"), {TIDARRAYOID, UUIDOID, INTERVALOID}),
      give_back_all(text("give_back_all"), {UUIDOID}),
      try_again(text("try_again"), {TIDARRAYOID, UUIDOID, INTERVALOID, TEXTOID}),
      fail(text("fail"), {TIDARRAYOID, UUIDOID, TEXTOID, TEXTOID, TEXTOID}),
      alive(text("alive"), {TIDARRAYOID}) {
  if (column) {
    lock.emplace(text("lock"), std::initializer_list<Oid>{TIDARRAYOID});
    update.emplace(text("update"), std::initializer_list<Oid>{TIDARRAYOID, vector_array});
    return;
  }
  const std::initializer_list<Oid> chunk_types = {TIDARRAYOID, INT4ARRAYOID, TEXTARRAYOID,
                                                  vector_array, BYTEAARRAYOID};
  chunks.emplace(text("chunks"), std::initializer_list<Oid>{TIDARRAYOID});
  vectors.emplace(text("vectors"), std::initializer_list<Oid>{TIDARRAYOID});
  insert.emplace(text("insert"), chunk_types);
  upsert.emplace(text("upsert"), chunk_types);
  trim.emplace(text("trim"), std::initializer_list<Oid>{TIDARRAYOID, INT4ARRAYOID});
  reuse.emplace(text("reuse"), std::initializer_list<Oid>{BYTEAARRAYOID});
}

Vectorizer::Vectorizer(pg::Spi& spi, std::int32_t vectorizer_id, const SourceContext& context)
    : EmbeddingSource(context), id(vectorizer_id) {
  const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(id)}};
  FollowOwner(spi, arguments);
  const pg::Rows rows = spi.Execute(
      "SELECT v.name, v.config::pg_catalog.text, "
      "ai._vectorizer_statements(v)::pg_catalog.text, v.queue::pg_catalog.oid, "
      "v.work::pg_catalog.oid, ai._vectorizer_owner(v), ai._vectorizer_max_attempts(v.config), "
      "v.source::pg_catalog.oid, v.target::pg_catalog.oid "
      "FROM ai.vectorizer v WHERE v.id OPERATOR(pg_catalog.=) $1",
      arguments);
  if (rows.count() == 0) {
    throw ai::Error(ErrorCode::kUndefinedObject, "the vectorizer was dropped");
  }
  name = pg::Utf8View(*rows.At(0, 0));
  document_ = json::Document::Parse(pg::Utf8View(*rows.At(0, 1)));
  queue = DatumGetObjectId(*rows.At(0, 3));
  work = DatumGetObjectId(*rows.At(0, 4));
  max_attempts_ = DatumGetInt32(*rows.At(0, 6));
  source = DatumGetObjectId(*rows.At(0, 7));
  target = DatumGetObjectId(rows.At(0, 8).value_or(ObjectIdGetDatum(InvalidOid)));

  OpenModel(DatumGetObjectId(*rows.At(0, 5)));
  splitter_ = text::MakeSplitter(config().At("chunking"), pg::TokenLength);
  hasher_.emplace(HashSeed(embedding()));
  const json::Value formatting = config().At("formatting");
  if (formatting.GetString("implementation") == "python_template") {
    template_ = text::Template::Parse(formatting.GetString("template"));
    columns_ = template_->names();
    std::erase(columns_, "chunk");
  }
  column_ = config().At("destination").GetString("implementation") == "column";
  ReadProcessing();

  statement_texts_ = pg::Utf8View(*rows.At(0, 2));
  const auto texts = json::Document::Parse(statement_texts_);
  const Oid vector_array = pg::Call([this] { return get_array_type(vector_type_); });
  statements_ = std::make_unique<Statements>(
      [&](const char* key) { return std::string(texts.root().GetString(key)); }, vector_array,
      column_);
}

bool Vectorizer::IsOutdated() {
  const auto outdated = RunStep([this] {
    WorkTransaction transaction;
    std::optional<std::string> now;
    {
      pg::Spi spi;
      const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(id)}};
      const pg::Rows rows = spi.Execute(
          "SELECT ai._vectorizer_statements(v)::pg_catalog.text FROM ai.vectorizer v "
          "WHERE v.id OPERATOR(pg_catalog.=) $1",
          arguments);
      if (rows.count() > 0) {
        now = pg::Utf8View(rows.At(0, 0).value());
      }
    }
    transaction.Commit();
    return now && *now != statement_texts_;
  });
  return outdated && outdated.value();
}

namespace {

bool TryLock(Oid table, LOCKMODE mode) {
  return !OidIsValid(table) || pg::Call([&] { return ConditionalLockRelationOid(table, mode); });
}

}  // namespace

void Vectorizer::LockForReading() const {
  if (!TryLock(source, AccessShareLock) || !TryLock(target, AccessShareLock)) {
    throw TableLocked();
  }
}

void Vectorizer::LockForStoring() const {
  if (!TryLock(column() ? source : target, RowExclusiveLock)) {
    throw TableLocked();
  }
}

void Vectorizer::ReadProcessing() {
  const auto processing = config().Find("processing");
  const auto number = [&](const char* key, std::size_t fallback) {
    return processing ? static_cast<std::size_t>(
                            processing->GetInteger(key, static_cast<std::int64_t>(fallback)))
                      : fallback;
  };
  constexpr std::size_t kDefaultConcurrency = 50;
  traits_.batch_size = number("batch_size", traits_.batch_size);
  traits_.concurrency = number("concurrency", kDefaultConcurrency);
  number("priority", 0);  // the look at the queue goes by it
  reuse_ = processing && processing->GetBool("reuse", false);
  by_priority_ = processing && processing->Find("priority_column");
}

std::string Vectorizer::Format(std::string_view chunk,
                               std::span<const std::optional<std::string>> columns) const {
  if (!template_) {
    return std::string(chunk);
  }
  std::string out;
  template_->Render(
      [&](const std::string& placeholder) -> std::optional<std::string_view> {
        if (placeholder == "chunk") {
          return chunk;
        }
        const auto at = std::find(columns_.begin(), columns_.end(), placeholder);
        const auto& value = columns[static_cast<std::size_t>(at - columns_.begin())];
        return value ? std::optional<std::string_view>(*value) : std::nullopt;
      },
      out);
  return out;
}

}  // namespace ai::worker
