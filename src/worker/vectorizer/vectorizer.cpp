#include "worker/vectorizer/vectorizer.hpp"

#include "core/text/chunking.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/token_tables.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {
namespace {

std::string HashSeed(const json::Value& embedding) {
  return std::string(embedding.GetString("implementation")) + '\n' +
         std::string(embedding.GetString("model")) + '\n' +
         std::to_string(embedding.GetInteger("dimensions", 0));
}

/// No event is raised when REASSIGN OWNED changes the owner of a source, whose privileges on the
/// queue apply to reading. Does not wait for a row that is being updated.
void FollowOwner(pg::Spi& spi, std::int32_t id) {
  const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(id)}};
  spi.Execute(
      "SELECT ai._vectorizer_follow_owner(l.v) FROM (SELECT v FROM ai.vectorizer v "
      "WHERE v.id OPERATOR(pg_catalog.=) $1 AND v.owner_role OPERATOR(pg_catalog.<>) "
      "pg_catalog.pg_get_userbyid(ai._vectorizer_owner(v)) FOR NO KEY UPDATE SKIP LOCKED) l",
      arguments);
}

VectorizerDefinition Definition(pg::Spi& spi, std::int32_t id) {
  FollowOwner(spi, id);
  auto definition = LoadDefinition(spi, id);
  if (!definition) {
    throw ai::Error(ErrorCode::kUndefinedObject, "vectorizer was dropped");
  }
  return *std::move(definition);
}

}  // namespace

Vectorizer::Vectorizer(pg::Spi& spi, std::int32_t vectorizer_id, const SourceContext& context)
    : EmbeddingSource(context), id(vectorizer_id), definition(Definition(spi, vectorizer_id)) {
  OpenModel(definition.owner);
  splitter_ = text::MakeSplitter(config().At("chunking"), pg::TokenLength);
  hasher_.emplace(HashSeed(embedding()));
  const json::Value formatting = config().At("formatting");
  if (formatting.GetString("implementation") == "python_template") {
    template_ = text::Template::Parse(formatting.GetString("template"));
  }
  ReadProcessing();

  statements_ = std::make_unique<VectorizerStatements>(StatementTexts(definition.names),
                                                       VectorTypes(pg::VectorType()));
}

bool Vectorizer::IsOutdated() {
  const auto outdated = RunStep([this] {
    WorkTransaction transaction;
    std::optional<VectorizerDefinition> now;
    {
      pg::Spi spi;
      now = LoadDefinition(spi, id);
    }
    transaction.Commit();
    return now && now->names != definition.names;
  });
  return outdated && outdated.value();
}

namespace {

bool TryLock(Oid table, LOCKMODE mode) {
  return !OidIsValid(table) || pg::Call([&] { return ConditionalLockRelationOid(table, mode); });
}

}  // namespace

void Vectorizer::LockForReading() const {
  if (!TryLock(definition.source, AccessShareLock) ||
      !TryLock(definition.target, AccessShareLock)) {
    throw TableLocked();
  }
}

void Vectorizer::LockForStoring() const {
  if (!TryLock(IntoColumn() ? definition.source : definition.target, RowExclusiveLock)) {
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
  number("priority", 0);  // the poll uses it
  reuse_ = processing && processing->GetBool("reuse", false);
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
        const auto& names = definition.columns;
        const auto at = std::find(names.begin(), names.end(), placeholder);
        const auto& value = columns[static_cast<std::size_t>(at - names.begin())];
        return value ? std::optional<std::string_view>(*value) : std::nullopt;
      },
      out);
  return out;
}

}  // namespace ai::worker
