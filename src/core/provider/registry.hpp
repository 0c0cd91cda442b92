// The providers there are: one row for each. What the PostgreSQL layer needs to know to look up a
// key and a base URL is in the row; what a provider does is in its own file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/json/value.hpp"
#include "core/provider/provider.hpp"

namespace ai::provider {

/// What does not come from a configuration.
struct Environment {
  std::size_t ollama_max_chunks_per_batch = 2048;  // OLLAMA_MAX_CHUNKS_PER_BATCH
};

struct ProviderInfo {
  std::string_view implementation;  // its name in a configuration
  std::string_view default_base_url;
  std::string_view base_url_setting;  // the setting that replaces the default; empty: none
  std::string_view api_key_name;      // unless a configuration names another; empty: none
  bool needs_key;
  std::span<const std::string_view> hosts;  // its own, to which its key may always go
  std::unique_ptr<Provider> (*make)(const json::Value& config, const Environment& environment);
};

std::span<const ProviderInfo> Providers();

/// Null if there is none of that name.
const ProviderInfo* FindProvider(std::string_view implementation);

/// The provider of an embedding configuration as ai.embedding_openai and its like make them. Throws
/// Error if the configuration is not acceptable. It is not needed afterwards.
std::unique_ptr<Provider> MakeProvider(const json::Value& config,
                                       const Environment& environment = {});

// One for each row, each in a file of its own.
std::unique_ptr<Provider> MakeOllama(const json::Value& config, const Environment& environment);
std::unique_ptr<Provider> MakeVoyage(const json::Value& config, const Environment& environment);
std::unique_ptr<Provider> MakeCohere(const json::Value& config, const Environment& environment);

}  // namespace ai::provider
