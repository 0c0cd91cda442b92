// Addresses of providers, for sql/tables/provider.sql.
#include "core/http/url.hpp"
#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"

namespace {

/// The configuration of a provider that has nothing but its name.
std::string AddressOfName(std::string_view name) {
  std::string json;
  ai::json::Writer(json).BeginObject().Key("implementation").String(name).EndObject();
  return ai::pg::ProviderAddress(ai::json::Document::Parse(json).root());
}

std::string Names() {
  std::string names;
  for (const ai::provider::ProviderInfo& info : ai::provider::Providers()) {
    names.append(names.empty() ? "" : ", ").append(info.implementation);
  }
  return names;
}

}  // namespace

// The endpoint of an embedding configuration; null for the embedded model and for an invalid one.
AI_FUNCTION(ai_embedding_endpoint) {
  const auto config = ai::json::Document::Parse(ai::pg::JsonText(PG_GETARG_DATUM(0)));
  const std::string address = ai::pg::ProviderAddress(config.root());
  if (address.empty()) {
    PG_RETURN_NULL();
  }
  return ai::pg::TextDatum(address);
}

// Resolves an argument to an endpoint: the name of a provider stands for its default one.
AI_FUNCTION(ai_provider_endpoint) {
  const std::string provider(ai::pg::Utf8View(PG_GETARG_DATUM(0)));
  if (provider.find("://") != std::string::npos) {
    const auto url = ai::http::ParseUrl(provider, ai::http::UrlKind::kBase);
    if (!url) {
      throw ai::Error(ai::ErrorCode::kInvalidParameter, url.failure().message, {},
                      "An endpoint looks like https://api.example.com/v1.");
    }
    return ai::pg::TextDatum(url->Address());
  }
  const std::string address = AddressOfName(provider);
  if (address.empty()) {
    throw ai::Error(ai::ErrorCode::kUndefinedObject, "provider \"" + provider + "\" does not exist",
                    {}, "Use the URL of an endpoint, or one of: " + Names() + ".");
  }
  return ai::pg::TextDatum(address);
}

// The name of the key that a provider's configurations have by default; null if it needs none.
AI_FUNCTION(ai_provider_key_name) {
  const auto* info = ai::provider::FindProvider(ai::pg::Utf8View(PG_GETARG_DATUM(0)));
  if (info == nullptr || info->api_key_name.empty()) {
    PG_RETURN_NULL();
  }
  return ai::pg::TextDatum(info->api_key_name);
}
