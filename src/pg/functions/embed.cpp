// Embeddings in the caller's own statement: the functions of sql/61-embed-*.sql.
#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "core/provider/batch.hpp"
#include "core/provider/openai.hpp"
#include "pg/ask.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/local_model.hpp"
#include "pg/provider_access.hpp"
#include "pg/secret/secret.hpp"
#include "pg/token_tables.hpp"

namespace {

using ai::http::Request;

ai::WallTime Now() {
  return ai::SystemClock().WallNow();
}

/// A provider, and where to reach it on behalf of a role.
struct Access {
  Access(Datum config_datum, Oid role, const std::optional<std::string>& api_key)
      : config(ai::json::Document::Parse(ai::pg::JsonText(config_datum))),
        provider(ai::provider::MakeProvider(config.root(), ai::pg::ProviderEnvironment())),
        endpoint(ai::pg::ResolveEndpoint(config.root(), role, api_key)) {}

  ai::json::Document config;
  std::unique_ptr<ai::provider::Provider> provider;
  ai::provider::Endpoint endpoint;
};

/// The key that the caller passed as an argument. It must not show up in pg_stat_activity.
std::optional<std::string> KeyArgument(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument)) {
    return std::nullopt;
  }
  ai::pg::HideFromActivity();
  return std::string(ai::pg::Utf8View(PG_GETARG_DATUM(argument)));
}

void RefuseEmpty(std::string_view text) {
  if (text.empty()) {
    throw ai::Error(ai::ErrorCode::kInvalidParameter, "cannot embed an empty text", {},
                    "Omit it, or use NULL, for which the result is NULL.");
  }
}

/// The texts of one request, in their order.
using Batch = std::vector<std::string_view>;
using Inputs = std::vector<std::optional<std::string_view>>;

void TellOfTruncation(const ai::provider::Provider& provider, std::size_t texts) {
  ai::pg::Tell(NOTICE, std::to_string(texts) + (texts == 1 ? " text was" : " texts were") +
                           " truncated to " + std::to_string(provider.limits().max_input_tokens) +
                           " tokens, the maximum of model \"" + provider.model() + "\"");
}

std::vector<Batch> CutIntoBatches(const ai::provider::Provider& provider, const Inputs& inputs) {
  const auto encoding = ai::pg::FindModelEncoding(provider.model());
  std::vector<Batch> batches;
  std::size_t truncated = 0;
  ai::provider::Batch size(provider.limits());
  for (const auto& input : inputs) {
    if (!input) {
      continue;
    }
    RefuseEmpty(*input);
    const auto prepared =
        ai::provider::Prepare(*input, provider.limits(), encoding.get(), ai::pg::ServeInterrupts);
    if (batches.empty() || !size.Fits(prepared)) {
      batches.emplace_back();
      size.Clear();
    }
    size.Add(prepared);
    batches.back().push_back(prepared.text);
    truncated += prepared.truncated ? 1 : 0;
  }
  if (truncated > 0) {
    TellOfTruncation(provider, truncated);
  }
  return batches;
}

std::vector<Datum> EmbedBatches(const Access& access, const std::vector<Batch>& batches) {
  std::vector<Request> requests;
  requests.reserve(batches.size());
  for (const Batch& batch : batches) {
    requests.push_back(access.provider->Build(batch, access.endpoint));
  }
  auto responses = ai::pg::Ask(access.config.root(), std::move(requests), access.provider.get());
  std::vector<Datum> vectors;
  ai::provider::Embeddings embeddings;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto parsed =
        access.provider->Parse(responses[i], access.endpoint, batches[i].size(), Now(), embeddings);
    if (!parsed) {
      ai::pg::ThrowFailure(parsed.failure());
    }
    for (std::size_t k = 0; k < embeddings.count(); ++k) {
      vectors.push_back(ai::pg::VectorDatum(embeddings[k]));
    }
  }
  return vectors;
}

std::vector<Datum> EmbedLocally(const std::shared_ptr<const ai::model::Model>& model,
                                const Inputs& inputs, ai::model::Purpose purpose) {
  Batch texts;
  for (const auto& input : inputs) {
    if (input) {
      RefuseEmpty(*input);
      texts.push_back(*input);
    }
  }
  std::vector<float> values(texts.size() * model->dimensions());
  ai::model::Encoder(model).Encode(texts, values, ai::pg::ServeInterrupts, purpose);
  std::vector<Datum> vectors;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    vectors.push_back(ai::pg::VectorDatum(
        std::span(values).subspan(i * model->dimensions(), model->dimensions())));
  }
  return vectors;
}

std::vector<Datum> EmbedLocally(const ai::json::Value& config, const Inputs& inputs) {
  const bool is_query = config.GetString("input_type", "") == "query";
  return EmbedLocally(
      ai::pg::OpenLocalModel(config.GetString("model"), config.GetInteger("dimensions", 0)), inputs,
      is_query ? ai::model::Purpose::kQuery : ai::model::Purpose::kPassage);
}

std::vector<Datum> EmbedRemotely(Datum config, Oid role, const std::optional<std::string>& api_key,
                                 const Inputs& inputs) {
  const Access access(config, role, api_key);
  return EmbedBatches(access, CutIntoBatches(*access.provider, inputs));
}

/// The vectors of the inputs that are not null; null for the others.
Datum InPlaces(const Inputs& inputs, const std::vector<Datum>& vectors) {
  std::vector<std::optional<Datum>> results;
  results.reserve(inputs.size());
  auto next = vectors.begin();
  for (const auto& input : inputs) {
    results.push_back(input ? std::optional<Datum>(*next++) : std::nullopt);
  }
  return ai::pg::NullableArrayDatum(ai::pg::VectorType(), results);
}

Datum Embed(Oid role, Datum config_datum, Datum inputs_datum,
            const std::optional<std::string>& api_key) {
  const auto config = ai::json::Document::Parse(ai::pg::JsonText(config_datum));
  const Inputs inputs = ai::pg::TextArray(inputs_datum);
  const std::vector<Datum> vectors = config.root().GetString("implementation") == "local"
                                         ? EmbedLocally(config.root(), inputs)
                                         : EmbedRemotely(config_datum, role, api_key, inputs);
  return InPlaces(inputs, vectors);
}

}  // namespace

AI_FUNCTION(ai_embed) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) {
    PG_RETURN_NULL();
  }
  return Embed(GetUserId(), PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), KeyArgument(fcinfo, 2));
}

AI_FUNCTION(ai_embed_as) {
  return Embed(PG_GETARG_OID(0), PG_GETARG_DATUM(1), PG_GETARG_DATUM(2), std::nullopt);
}

AI_FUNCTION(ai_local_embed) {
  const Inputs inputs = ai::pg::TextArray(PG_GETARG_DATUM(1));
  return InPlaces(inputs, EmbedLocally(ai::pg::OpenLocalModel(ai::pg::Utf8View(PG_GETARG_DATUM(0))),
                                       inputs, ai::model::Purpose::kPassage));
}

// What the embedded model is, or why it cannot be used.
AI_FUNCTION(ai_local_model) {
  std::string json;
  ai::json::Writer writer(json);
  writer.BeginObject();
  try {
    const auto model = ai::pg::OpenLocalModel(ai::pg::kDefaultLocalModel);
    writer.Key("name").String(model->name());
    writer.Key("dimensions").Integer(static_cast<std::int64_t>(model->dimensions()));
    writer.Key("max_tokens").Integer(static_cast<std::int64_t>(model->max_tokens()));
  } catch (const ai::Error& error) {
    const std::string detail = error.detail().empty() ? "" : " " + error.detail();
    writer.Key("problem").String(std::string(error.what()) + "." + detail);
  }
  writer.EndObject();
  return ai::pg::JsonbDatum(json);
}

AI_FUNCTION(ai_embed_tokens) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) {
    PG_RETURN_NULL();
  }
  const Access access(PG_GETARG_DATUM(0), GetUserId(), KeyArgument(fcinfo, 2));
  const std::vector<ai::token::TokenId> tokens[] = {
      ai::pg::Int4Array(PG_GETARG_DATUM(1), "input_tokens")};
  if (tokens[0].empty()) {
    throw ai::Error(ai::ErrorCode::kInvalidParameter, "cannot embed an empty text", {},
                    "Use NULL, for which the result is NULL.");
  }
  const ai::provider::OpenAi provider(access.config.root());
  std::vector<Request> requests;
  requests.push_back(provider.BuildFromTokens(tokens, access.endpoint));
  auto responses = ai::pg::Ask(access.config.root(), std::move(requests), &provider);
  const auto parsed = provider.Parse(std::move(responses[0]), access.endpoint, 1, Now());
  if (!parsed) {
    ai::pg::ThrowFailure(parsed.failure());
  }
  return ai::pg::VectorDatum(parsed.value()[0]);
}
