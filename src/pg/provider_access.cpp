#include "pg/provider_access.hpp"

#include "core/http/host_policy.hpp"
#include "core/http/url.hpp"
#include "core/provider/extras.hpp"
#include "pg/guard.hpp"
#include "pg/secret/secret.hpp"
#include "pg/settings.hpp"
#include "pg/settings_transport.hpp"

namespace ai::pg {
namespace {

/// Like Ollama itself reads OLLAMA_HOST: scheme, host and port may be omitted, and a wildcard
/// listen address means this machine.
std::string OllamaHost() {
  const char* value = std::getenv("OLLAMA_HOST");
  std::string host = value == nullptr ? "" : value;
  if (host.empty() || host.find("://") != std::string::npos) {
    return host;
  }
  for (const auto& [everywhere, here] : {std::pair{"0.0.0.0", "127.0.0.1"}, {"[::]", "[::1]"}}) {
    if (host.starts_with(everywhere)) {
      host.replace(0, std::strlen(everywhere), here);
    }
  }
  if (host.starts_with(':')) {
    host.insert(0, "127.0.0.1");
  }
  const std::size_t end_of_address = host.find(']');  // of IPv6: its colons are no port's
  const bool has_port = host.find(':', end_of_address + 1) != std::string::npos;  // npos + 1 is 0
  return "http://" + host + (has_port ? "" : ":11434");
}

/// The base URL that the server's settings or environment give for a provider; empty if none.
std::string ConfiguredBaseUrl(const provider::ProviderInfo& info) {
  if (info.base_url_setting.empty()) {
    return {};
  }
  std::string url = StringSetting(std::string(info.base_url_setting).c_str());
  return url.empty() && info.implementation == "ollama" ? OllamaHost() : url;
}

std::string BaseUrl(const json::Value& config, const provider::ProviderInfo& info) {
  std::string base_url(config.GetString("base_url", ""));
  if (base_url.empty()) {
    base_url = ConfiguredBaseUrl(info);
  }
  return base_url.empty() ? std::string(info.default_base_url) : base_url;
}

http::Url CheckedUrl(const std::string& base_url) {
  auto url = http::ParseUrl(base_url, http::UrlKind::kBase);
  if (!url) {
    ThrowFailure(url.failure());
  }
  return std::move(url).value();
}

/// The hosts that a key without hosts of its own may go to.
http::HostList OwnHosts(const provider::ProviderInfo& info) {
  std::string hosts;
  for (const std::string_view host : info.hosts) {
    hosts.append(hosts.empty() ? "" : ",").append(host);
  }
  if (const std::string configured = ConfiguredBaseUrl(info); !configured.empty()) {
    const http::Url url = CheckedUrl(configured);
    const bool brackets = url.host.find(':') != std::string::npos;
    hosts.append(hosts.empty() ? "" : ",").append(brackets ? "[" + url.host + "]" : url.host);
  }
  return http::HostList::Parse(hosts);
}

/// To this machine, and where the server itself says so.
bool MayGoUnencrypted(const provider::ProviderInfo& info, const http::Url& url) {
  if (url.host == "localhost" || (url.address && http::IsLoopback(*url.address))) {
    return true;
  }
  const std::string configured = ConfiguredBaseUrl(info);
  return !configured.empty() && CheckedUrl(configured).Endpoint() == url.Endpoint();
}

/// The key that goes along; empty if none does.
std::string KeyFor(const provider::ProviderInfo& info, const http::Url& url, Oid role,
                   const std::string& name) {
  const http::HostList own = OwnHosts(info);
  const std::optional<Secret> secret = FindSecret(role, name);
  if (!secret) {
    if (info.needs_key && own.Allows(url)) {
      throw ai::Error(ErrorCode::kUndefinedObject, "secret \"" + name + "\" does not exist", {},
                      "Set it with SELECT ai.set_secret('" + name +
                          "', '...'), with a setting, or in the environment of the server.");
    }
    return {};
  }
  const http::HostList bound = secret->hosts ? http::HostList::Parse(*secret->hosts) : own;
  if (!http::KeyMayGoTo(bound, url)) {
    throw ai::Error(
        ErrorCode::kInvalidParameter,
        "secret \"" + name + "\" must not be sent to " + url.Endpoint(),
        "It may be sent to the hosts it was set for, or by default to the provider's own and to "
        "that of " +
            (info.base_url_setting.empty() ? std::string("no setting")
                                           : std::string(info.base_url_setting)) +
            ".",
        "Set the secret with this host in hosts, or name another one in api_key_name; for a server "
        "without keys, use api_key_name => NULL in a configuration, '' in a function.");
  }
  if (!secret->hosts && url.scheme == "http" && !MayGoUnencrypted(info, url)) {
    throw ai::Error(ErrorCode::kInvalidParameter,
                    "secret \"" + name + "\" must not be sent unencrypted to " + url.Endpoint(), {},
                    "Use https, or set the secret with this host in hosts.");
  }
  return secret->value;
}

std::string HintFor(const Failure& failure) {
  if (!failure.hint.empty()) {
    return failure.hint;
  }
  switch (failure.failure_class) {
    case FailureClass::kDeferred:
      return failure.retry_after
                 ? "Try again in " + std::to_string((failure.retry_after->count() + 999) / 1000) +
                       " s."
                 : "Try again later.";
    case FailureClass::kTransient:
      return "The problem may be temporary: try again.";
    case FailureClass::kConfiguration:
      return failure.message.find("ai.allowed_hosts") != std::string::npos
                 ? "A superuser can add the host to ai.allowed_hosts."
             : failure.message.find("ai.ca_file") != std::string::npos
                 ? "If the certificate can be trusted, a superuser can name its authority in "
                   "ai.ca_file."
                 : "Check the address, the key and the model.";
    default:
      return {};
  }
}

}  // namespace

provider::Endpoint ResolveEndpoint(const json::Value& config, Oid role,
                                   const std::optional<std::string>& api_key) {
  const std::string implementation(config.GetString("implementation"));
  const provider::ProviderInfo* info = provider::FindProvider(implementation);
  if (info == nullptr) {
    throw ai::Error(ErrorCode::kInvalidParameter, "unknown provider \"" + implementation + "\"");
  }
  if (config.Find("extra_headers")) {
    HideFromActivity();
  }
  const std::string base_url = BaseUrl(config, *info);
  const http::Url url = CheckedUrl(base_url);
  const std::string name(config.GetString("api_key_name", ""));
  provider::Endpoint endpoint{base_url};
  if (api_key) {
    endpoint.api_key = *api_key;
  } else if (!name.empty()) {
    endpoint.api_key = KeyFor(*info, url, role, name);
  }
  provider::AddExtras(config, endpoint);
  return endpoint;
}

std::string ProviderAddress(const json::Value& config) {
  const auto* info = provider::FindProvider(config.GetString("implementation", ""));
  if (info == nullptr) {
    return {};
  }
  const auto url = http::ParseUrl(BaseUrl(config, *info), http::UrlKind::kBase);
  return url ? url->Address() : std::string();
}

provider::Environment ProviderEnvironment() {
  provider::Environment environment;
  const char* chunks = std::getenv("OLLAMA_MAX_CHUNKS_PER_BATCH");
  if (chunks != nullptr && std::atoi(chunks) > 0) {
    environment.ollama_max_chunks_per_batch = static_cast<std::size_t>(std::atoi(chunks));
  }
  return environment;
}

void ApplyLimits(const json::Value& config, http::Request& request) {
  request.timeouts.connect = std::chrono::milliseconds(settings.connect_timeout);
  request.timeouts.total = std::chrono::milliseconds(settings.request_timeout);
  const std::optional<json::Value> timeout = config.Find("timeout_seconds");
  if (timeout.has_value() && !timeout->IsNull()) {
    const double seconds = timeout->AsDouble();
    if (!(seconds > 0)) {
      throw ai::Error(ErrorCode::kInvalidParameter, "timeout_seconds must be greater than 0", {},
                      "Omit it to use ai.request_timeout.");
    }
    const double limit = settings.request_timeout;
    request.timeouts.total =
        std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds * 1000, limit)));
  }
  request.max_response_bytes = std::min(
      request.max_response_bytes, static_cast<std::size_t>(settings.max_response_size) * 1024);
}

http::Transport& SessionTransport() {
  static SettingsTransport transport;
  transport.FollowSettings();
  return transport.get();
}

void ThrowFailure(const Failure& failure) {
  throw ai::Error(ErrorCode::kProvider, failure.message, {}, HintFor(failure));
}

}  // namespace ai::pg
