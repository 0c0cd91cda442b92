// The statements of a vectorizer, for inspection: test/t/068 checks each of them, and they can be
// EXPLAINed.
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/statements/definition.hpp"
#include "worker/statements/vectorizer_statements.hpp"

namespace {

/// None if there is no such vectorizer.
std::vector<std::string> TextsFor(std::int32_t vectorizer) {
  std::vector<std::string> texts;
  ai::pg::Spi spi;
  if (const auto definition = ai::worker::LoadDefinition(spi, vectorizer)) {
    const ai::worker::VectorTypes types(ai::pg::VectorType());
    const ai::worker::StatementTexts kept(definition->names, &texts);
    const ai::worker::VectorizerStatements statements(kept, types);
  }
  return texts;
}

}  // namespace

AI_FUNCTION(ai_worker_statements) {
  std::vector<Datum> elements;
  for (const std::string& text : TextsFor(PG_GETARG_INT32(0))) {
    elements.push_back(ai::pg::TextDatum(text));
  }
  return ai::pg::ArrayDatum(TEXTOID, elements);
}
