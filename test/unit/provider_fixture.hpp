// What the tests of core/provider have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/document.hpp"
#include "core/provider/registry.hpp"

namespace ai::test {

inline constexpr std::string_view kKey = "sk-test-0123456789abcdef";

/// 2026-03-01 12:00:00 UTC.
inline constexpr WallTime kNow{std::chrono::seconds(1'772'366'400)};

inline provider::Endpoint TestEndpoint() {
  return {"https://api.example.com/v1", std::string(kKey)};
}

/// From a configuration's members beside the implementation: R"("model":"m")".
inline std::unique_ptr<provider::Provider> TestProvider(std::string_view implementation,
                                                        const std::string& members) {
  const json::Document config =
      json::Document::Parse(R"({"config_type":"embedding","implementation":")" +
                            std::string(implementation) + "\"," + members + "}");
  return provider::MakeProvider(config.root());
}

inline http::Response Reply(int status, std::string body, http::Headers headers = {}) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

/// Either throws if the reply went the other way.
inline std::vector<float> Values(const provider::Provider& provider, const http::Response& response,
                                 std::size_t count) {
  return provider.Parse(response, TestEndpoint(), count, kNow).value().values;
}

inline Failure FailureOf(const provider::Provider& provider, const http::Response& response,
                         std::size_t count) {
  return provider.Parse(response, TestEndpoint(), count, kNow).failure();
}

}  // namespace ai::test
