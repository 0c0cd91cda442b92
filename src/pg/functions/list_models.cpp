// The models that a provider has: the lists of sql/61-embed-*.sql.
#include "core/clock.hpp"
#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "core/provider/models.hpp"
#include "pg/ask.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"
#include "pg/secret/secret.hpp"

namespace {

std::string ToJson(const std::vector<ai::provider::OpenAiModel>& models) {
  std::string json;
  ai::json::Writer writer(json);
  writer.BeginArray();
  for (const auto& model : models) {
    writer.BeginObject().Key("id").String(model.id).Key("owned_by").String(model.owned_by);
    if (model.created) {
      writer.Key("created").Integer(*model.created);
    }
    writer.EndObject();
  }
  writer.EndArray();
  return json;
}

std::string ToJson(const std::vector<ai::provider::OllamaModel>& models) {
  std::string json;
  ai::json::Writer writer(json);
  writer.BeginArray();
  for (const auto& model : models) {
    writer.BeginObject();
    for (const auto& [key, value] : {std::pair{"name", &model.name},
                                     {"model", &model.model},
                                     {"digest", &model.digest},
                                     {"family", &model.family},
                                     {"format", &model.format},
                                     {"parent_model", &model.parent_model},
                                     {"parameter_size", &model.parameter_size},
                                     {"quantization_level", &model.quantization_level},
                                     {"modified_at", &model.modified_at}}) {
      if (!value->empty()) {
        writer.Key(key).String(*value);
      }
    }
    if (model.size) {
      writer.Key("size").Integer(*model.size);
    }
    writer.Key("families").BeginArray();
    for (const std::string& family : model.families) {
      writer.String(family);
    }
    writer.EndArray().EndObject();
  }
  writer.EndArray();
  return json;
}

template <typename Models>
std::string Listed(const ai::Result<Models>& models) {
  if (!models) {
    ai::pg::ThrowFailure(models.failure());
  }
  return ToJson(models.value());
}

}  // namespace

// The models of OpenAI or Ollama, as a JSON array.
AI_FUNCTION(ai_list_models) {
  if (PG_ARGISNULL(0)) {
    PG_RETURN_NULL();
  }
  std::optional<std::string> api_key;
  if (!PG_ARGISNULL(1)) {
    ai::pg::HideFromActivity();
    api_key = ai::pg::Utf8View(PG_GETARG_DATUM(1));
  }
  const auto config = ai::json::Document::Parse(ai::pg::JsonText(PG_GETARG_DATUM(0)));
  const auto endpoint = ai::pg::ResolveEndpoint(config.root(), GetUserId(), api_key);
  const bool ollama = config.root().GetString("implementation") == "ollama";
  std::vector<ai::http::Request> requests;
  requests.push_back(ollama ? ai::provider::BuildOllamaModels(endpoint)
                            : ai::provider::BuildOpenAiModels(endpoint));
  const auto responses = ai::pg::Ask(config.root(), std::move(requests), nullptr);
  const ai::WallTime now = ai::SystemClock().WallNow();
  return ai::pg::JsonbDatum(
      ollama ? Listed(ai::provider::ParseOllamaModels(responses[0], endpoint, now))
             : Listed(ai::provider::ParseOpenAiModels(responses[0], endpoint, now)));
}
