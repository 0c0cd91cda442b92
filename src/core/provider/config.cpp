// See config.hpp.
#include "core/provider/config.hpp"

#include <cstdint>

#include "core/error.hpp"
#include "core/provider/embeddings.hpp"

namespace ai::provider {

std::string ReadModel(const json::Value& config) {
  const std::string_view model = config.GetString("model", "");
  if (model.empty()) {
    throw Error(ErrorCode::kInvalidParameter, "the name of the embedding model is empty");
  }
  return std::string(model);
}

std::size_t ReadDimensions(const json::Value& config) {
  const std::optional<json::Value> value = config.Find("dimensions");
  if (!value.has_value() || value->IsNull()) {
    return 0;
  }
  const std::int64_t dimensions = value->AsInteger();
  if (dimensions < 1 || dimensions > static_cast<std::int64_t>(kMaxDimensions)) {
    throw Error(ErrorCode::kInvalidParameter, "dimensions of an embedding must be from 1 to " +
                                                  std::to_string(kMaxDimensions) + ", not " +
                                                  std::to_string(dimensions));
  }
  return static_cast<std::size_t>(dimensions);
}

std::optional<json::Document> ReadObject(const json::Value& config, std::string_view key) {
  const std::optional<json::Value> value = config.Find(key);
  if (!value.has_value() || value->IsNull()) {
    return std::nullopt;
  }
  value->members();  // throws unless it is an object
  std::string text;
  json::Writer(text).Copy(*value);
  return json::Document::Parse(text);
}

void WriteText(json::Writer& writer, std::string_view key, std::string_view value) {
  if (!value.empty()) {
    writer.Key(key).String(value);
  }
}

void WriteCount(json::Writer& writer, std::string_view key, std::size_t value) {
  writer.Key(key).Integer(static_cast<std::int64_t>(value));
}

void WriteObject(json::Writer& writer, std::string_view key,
                 const std::optional<json::Document>& value) {
  if (value.has_value()) {
    writer.Key(key).Copy(value->root());
  }
}

}  // namespace ai::provider
