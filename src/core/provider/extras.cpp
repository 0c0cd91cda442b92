// See extras.hpp.
#include "core/provider/extras.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/json/writer.hpp"
#include "core/provider/ascii.hpp"

namespace ai::provider {
namespace {

/// In lower case: what the request has already, and what says where it ends.
constexpr std::array<std::string_view, 12> kOurs = {"accept",
                                                    "accept-encoding",
                                                    "authorization",
                                                    "connection",
                                                    "content-length",
                                                    "content-type",
                                                    "expect",
                                                    "host",
                                                    "te",
                                                    "trailer",
                                                    "transfer-encoding",
                                                    "upgrade"};

void RefuseOurs(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  if (std::find(kOurs.begin(), kOurs.end(), lower) == kOurs.end() && !lower.starts_with("proxy-")) {
    return;
  }
  throw Error(ErrorCode::kInvalidParameter,
              "extra_headers must not have the header \"" + std::string(name) + "\"", {},
              lower == "authorization" ? "Name the key in api_key_name, or give it in api_key."
                                       : "It is set by the request itself.");
}

std::string Text(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kString:
      return std::string(value.AsString());
    case json::Kind::kBool:
    case json::Kind::kInteger:
    case json::Kind::kDouble: {
      std::string text;
      json::Writer(text).Copy(value);
      return text;
    }
    default:
      throw Error(ErrorCode::kInvalidParameter, value.Path() +
                                                    " must be a text, a number or a boolean, not " +
                                                    std::string(json::Describe(value.kind())));
  }
}

/// Everything but letters, digits and "-._~" as the number of its byte.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    if (IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z') ||
        std::string_view("-._~").find(c) != std::string_view::npos) {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return escaped;
}

void ForEach(const json::Value& config, std::string_view key,
             const std::function<void(std::string_view, const std::string&)>& use) {
  const std::optional<json::Value> object = config.Find(key);
  if (!object.has_value() || object->IsNull()) {
    return;
  }
  for (const json::Member member : object->members()) {
    use(member.key, Text(member.value));
  }
}

}  // namespace

void AddExtras(const json::Value& config, Endpoint& endpoint) {
  ForEach(config, "extra_headers", [&](std::string_view name, const std::string& value) {
    RefuseOurs(name);
    endpoint.headers.Add(name, value);
  });
  ForEach(config, "extra_query", [&](std::string_view name, const std::string& value) {
    endpoint.query += (endpoint.query.empty() ? "" : "&") + Escaped(name) + "=" + Escaped(value);
  });
}

}  // namespace ai::provider
