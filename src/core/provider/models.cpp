// See models.hpp. Lists are short: they are read as documents.
#include "core/provider/models.hpp"

#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/json/document.hpp"
#include "core/provider/failures.hpp"

namespace ai::provider {
namespace {

constexpr std::string_view kOpenAiPath = "models";
constexpr std::string_view kOllamaPath = "api/tags";
constexpr std::size_t kMaxReplyBytes = std::size_t{4} << 20;

/// PostgreSQL cannot store a zero character, and no model has one in its name.
std::string Text(const json::Value& value) {
  const std::string_view text = value.AsString();
  if (text.find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::kInvalidText,
                "JSON value \"" + value.Path() + "\" has a zero character");
  }
  return std::string(text);
}

std::string Text(const json::Value& object, std::string_view key) {
  const std::optional<json::Value> value = object.Find(key);
  return !value.has_value() || value->IsNull() ? std::string() : Text(*value);
}

std::optional<std::int64_t> Integer(const json::Value& object, std::string_view key) {
  const std::optional<json::Value> value = object.Find(key);
  return !value.has_value() || value->IsNull() ? std::nullopt : std::optional(value->AsInteger());
}

OpenAiModel ReadOpenAi(const json::Value& value) {
  return {Text(value.At("id")), Integer(value, "created"), Text(value, "owned_by")};
}

OllamaModel ReadOllama(const json::Value& value) {
  OllamaModel model;
  model.name = Text(value.At("name"));
  model.model = Text(value, "model");
  model.size = Integer(value, "size");
  model.digest = Text(value, "digest");
  model.modified_at = Text(value, "modified_at");
  const std::optional<json::Value> details = value.Find("details");
  if (!details.has_value() || details->IsNull()) {
    return model;
  }
  model.family = Text(*details, "family");
  model.format = Text(*details, "format");
  model.parent_model = Text(*details, "parent_model");
  model.parameter_size = Text(*details, "parameter_size");
  model.quantization_level = Text(*details, "quantization_level");
  const std::optional<json::Value> families = details->Find("families");
  if (families.has_value() && !families->IsNull()) {
    for (const json::Value family : families->items()) {
      model.families.push_back(Text(family));
    }
  }
  return model;
}

http::Request BuildList(const Endpoint& endpoint, std::string_view path) {
  http::Request request = MakeRequest(http::Method::kGet, endpoint, path);
  request.max_response_bytes = kMaxReplyBytes;
  return request;
}

/// The elements of the array at key, each read by read.
template <typename Model>
Result<std::vector<Model>> ParseList(const http::Response& response, const Origin& origin,
                                     std::string_view key, WallTime now,
                                     Model (*read)(const json::Value&)) {
  if (response.status != 200) {
    return ErrorReply(origin, response, now);
  }
  try {
    const json::Document document = json::Document::Parse(response.body);
    std::vector<Model> models;
    for (const json::Value value : document.root().At(key).items()) {
      models.push_back(read(value));
    }
    return models;
  } catch (const Error& error) {
    return InvalidReply(origin, response, std::string("cannot be read: ") + error.what(), now);
  }
}

}  // namespace

http::Request BuildOpenAiModels(const Endpoint& endpoint) {
  return BuildList(endpoint, kOpenAiPath);
}

Result<std::vector<OpenAiModel>> ParseOpenAiModels(const http::Response& response,
                                                   const Endpoint& endpoint, WallTime now) {
  return ParseList(response, {endpoint, kOpenAiPath, {}}, "data", now, ReadOpenAi);
}

http::Request BuildOllamaModels(const Endpoint& endpoint) {
  return BuildList(endpoint, kOllamaPath);
}

Result<std::vector<OllamaModel>> ParseOllamaModels(const http::Response& response,
                                                   const Endpoint& endpoint, WallTime now) {
  return ParseList(response, {endpoint, kOllamaPath, {}}, "models", now, ReadOllama);
}

}  // namespace ai::provider
