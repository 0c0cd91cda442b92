// Token counting, encoding and decoding for SQL.
#include "core/token/encoding.hpp"

#include "core/token/estimate.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/token_tables.hpp"

namespace {

std::shared_ptr<const ai::token::Encoding> RequiredEncoding(Datum encoding_or_model) {
  return ai::pg::RequireEncoding(ai::pg::EncodingOf(ai::pg::Utf8View(encoding_or_model)));
}

}  // namespace

AI_FUNCTION(ai_count_tokens) {
  const std::string_view text = ai::pg::Utf8View(PG_GETARG_DATUM(0));
  const auto name = ai::pg::EncodingOf(ai::pg::Utf8View(PG_GETARG_DATUM(1)));
  const auto encoding = ai::pg::FindEncoding(name);
  const std::size_t count = encoding != nullptr ? encoding->Count(text, ai::pg::ServeInterrupts)
                                                : ai::token::EstimateTokens(text);
  PG_RETURN_INT32(static_cast<std::int32_t>(count));
}

AI_FUNCTION(ai_openai_tokenize) {
  const auto encoding = RequiredEncoding(PG_GETARG_DATUM(0));
  std::vector<ai::token::TokenId> ids;
  encoding->Encode(ai::pg::Utf8View(PG_GETARG_DATUM(1)), ids, ai::pg::ServeInterrupts);
  return ai::pg::Int4ArrayDatum(ids);
}

AI_FUNCTION(ai_openai_detokenize) {
  const auto encoding = RequiredEncoding(PG_GETARG_DATUM(0));
  return ai::pg::TextDatum(encoding->Decode(ai::pg::Int4Array(PG_GETARG_DATUM(1), "tokens")));
}

// Whether the tables are installed, for ai.status().
AI_FUNCTION(ai_token_tables) {
  const bool installed = ai::pg::FindEncoding(ai::token::EncodingName::kCl100kBase) != nullptr &&
                         ai::pg::FindEncoding(ai::token::EncodingName::kO200kBase) != nullptr;
  PG_RETURN_BOOL(installed);
}
