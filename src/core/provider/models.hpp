// Which models a provider has: the lists of OpenAI and Ollama.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/http/message.hpp"
#include "core/provider/endpoint.hpp"
#include "core/result.hpp"

namespace ai::provider {

/// What a server leaves out is empty or nothing.
struct OpenAiModel {
  std::string id;
  std::optional<std::int64_t> created;  // in seconds since 1970
  std::string owned_by;
};

struct OllamaModel {
  std::string name;
  std::string model;
  std::optional<std::int64_t> size;  // in bytes
  std::string digest;
  std::string family;
  std::string format;
  std::vector<std::string> families;
  std::string parent_model;
  std::string parameter_size;
  std::string quantization_level;
  std::string modified_at;  // as the server writes it: "2025-05-04T17:37:44.706015396-07:00"
};

http::Request BuildOpenAiModels(const Endpoint& endpoint);
Result<std::vector<OpenAiModel>> ParseOpenAiModels(const http::Response& response,
                                                   const Endpoint& endpoint, WallTime now);

http::Request BuildOllamaModels(const Endpoint& endpoint);
Result<std::vector<OllamaModel>> ParseOllamaModels(const http::Response& response,
                                                   const Endpoint& endpoint, WallTime now);

}  // namespace ai::provider
