// Reading the configuration of an embedding and writing the body of a request, as all providers do.
// Private to src/core/provider.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/document.hpp"
#include "core/json/value.hpp"
#include "core/json/writer.hpp"

namespace ai::provider {

/// Throws Error if there is none or if it is empty.
std::string ReadModel(const json::Value& config);

/// 0 if there are none; throws Error if there cannot be as many.
std::size_t ReadDimensions(const json::Value& config);

/// An object that is sent on as it is, copied; nothing if it is absent or null.
std::optional<json::Document> ReadObject(const json::Value& config, std::string_view key);

/// Each writes a member; WriteText and WriteObject write none if there is nothing.
void WriteText(json::Writer& writer, std::string_view key, std::string_view value);
void WriteCount(json::Writer& writer, std::string_view key, std::size_t value);
void WriteObject(json::Writer& writer, std::string_view key,
                 const std::optional<json::Document>& value);

}  // namespace ai::provider
