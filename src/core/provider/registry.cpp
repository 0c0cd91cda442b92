// See registry.hpp.
#include "core/provider/registry.hpp"

#include <array>
#include <string>

#include "core/error.hpp"
#include "core/provider/openai.hpp"

namespace ai::provider {
namespace {

constexpr std::array<std::string_view, 1> kOpenAiHosts = {"api.openai.com"};
constexpr std::array<std::string_view, 1> kVoyageHosts = {"api.voyageai.com"};
constexpr std::array<std::string_view, 2> kCohereHosts = {"api.cohere.com", "api.cohere.ai"};

std::unique_ptr<Provider> MakeOpenAi(const json::Value& config, const Environment& /*unused*/) {
  return std::make_unique<OpenAi>(config);
}

constexpr std::array kProviders = {
    ProviderInfo{.implementation = "openai",
                 .default_base_url = "https://api.openai.com/v1",
                 .base_url_setting = "ai.openai_base_url",
                 .api_key_name = "OPENAI_API_KEY",
                 .needs_key = true,
                 .hosts = kOpenAiHosts,
                 .make = MakeOpenAi},
    ProviderInfo{.implementation = "ollama",
                 .default_base_url = "http://localhost:11434",
                 .base_url_setting = "ai.ollama_host",
                 .api_key_name = "",
                 .needs_key = false,
                 .hosts = {},
                 .make = MakeOllama},
    ProviderInfo{.implementation = "voyageai",
                 .default_base_url = "https://api.voyageai.com/v1",
                 .base_url_setting = "",
                 .api_key_name = "VOYAGE_API_KEY",
                 .needs_key = true,
                 .hosts = kVoyageHosts,
                 .make = MakeVoyage},
    ProviderInfo{.implementation = "cohere",
                 .default_base_url = "https://api.cohere.com/v2",
                 .base_url_setting = "",
                 .api_key_name = "COHERE_API_KEY",
                 .needs_key = true,
                 .hosts = kCohereHosts,
                 .make = MakeCohere},
};

}  // namespace

std::span<const ProviderInfo> Providers() {
  return kProviders;
}

const ProviderInfo* FindProvider(std::string_view implementation) {
  for (const ProviderInfo& info : kProviders) {
    if (info.implementation == implementation) {
      return &info;
    }
  }
  return nullptr;
}

std::unique_ptr<Provider> MakeProvider(const json::Value& config, const Environment& environment) {
  const std::string_view implementation = config.GetString("implementation");
  const ProviderInfo* const info = FindProvider(implementation);
  if (info == nullptr) {
    std::string names;
    for (const ProviderInfo& known : kProviders) {
      names.append(names.empty() ? "" : ", ").append(known.implementation);
    }
    throw Error(ErrorCode::kNotSupported,
                "there is no embedding provider \"" + std::string(implementation) + "\"", {},
                "Use one of: " + names + ".");
  }
  return info->make(config, environment);
}

}  // namespace ai::provider
