// Fuzzes replies: a good one of any provider, changed in a few places, must either be taken, with
// as many finite floats as were asked for, or be refused with nothing left behind and a message
// that is one line of UTF-8 without the key.
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/document.hpp"
#include "core/provider/registry.hpp"
#include "core/utf8.hpp"
#include "fuzz/fuzz_input.hpp"

namespace ai::fuzz {

inline constexpr std::size_t kFuzzTexts = 2;
inline constexpr std::size_t kFuzzDimensions = 3;
inline constexpr std::string_view kFuzzKey = "sk-fuzz-0123456789";

struct ReplySeed {
  std::string_view implementation;
  int status;
  std::string_view body;
};

inline constexpr std::array<ReplySeed, 10> kReplySeeds = {{
    {"openai", 200,
     R"({"data":[{"index":0,"embedding":"AAAAPwAAgL8AAABA"},)"
     R"({"index":1,"embedding":"AACAPgAAAAAAAAC+"}],"usage":{"prompt_tokens":8}})"},
    {"openai", 200,
     R"({"data":[{"embedding":[0.5,-1,2e-3],"index":1},{"embedding":[1,2,3],"index":0}]})"},
    {"ollama", 200,
     R"({"model":"m","embeddings":[[0.01,-0.5,1],[1.5,2,3]],"prompt_eval_count":8})"},
    {"voyageai", 200,
     R"({"data":[{"embedding":"AAAAPwAAgL8AAABA","index":0},)"
     R"({"embedding":[1,2,3],"index":1}],"usage":{"total_tokens":10}})"},
    {"cohere", 200,
     R"({"id":"1","embeddings":{"float":[[1,2,3],[-1,0.5,1e2]]},"texts":["a","b"],)"
     R"("meta":{"billed_units":{"input_tokens":2}}})"},
    {"openai", 401,
     R"({"error":{"message":"Incorrect API key provided: sk-fuzz-0123456789.","type":"x",)"
     R"("param":null,"code":"invalid_api_key"}})"},
    {"openai", 429,
     R"({"error":{"message":"Please try again in 6m0s. sk-fuzz**6789","code":"rate_limit"}})"},
    {"cohere", 400, R"({"id":"1","message":"invalid request: model 'm' not found"})"},
    {"voyageai", 500, R"({"detail":[{"msg":"bad","input":"the text"}]})"},
    {"ollama", 502, "<html><head><title>502 Bad Gateway</title></head></html>"},
}};

/// What broken servers put into a reply, or leave where something else should be.
inline constexpr std::array<std::string_view, 30> kReplyPieces = {
    "",         "null",  "NaN",   "1e39",    "-1e-999",  "[",        "]",       "{",
    "}",        ",",     ":",     "\"",      "\\",       "\\u0000",  "\\ud800", "\xFF",
    "\xC3\xA9", "index", "-1",    "1.5",     "AAAA",     "AADAfw==", "=",       "<title>",
    "\r\n",     "error", "[1,2]", "[1,2,3]", "sk-fuzz-", "embedding"};

inline const provider::Provider& FuzzedProvider(std::string_view implementation) {
  static const auto providers = [] {
    std::vector<std::unique_ptr<provider::Provider>> made;
    for (const provider::ProviderInfo& info : provider::Providers()) {
      made.push_back(provider::MakeProvider(
          json::Document::Parse(R"({"model":"m","dimensions":3,"implementation":")" +
                                std::string(info.implementation) + "\"}")
              .root()));
    }
    return made;
  }();
  const auto* const info = provider::FindProvider(implementation);
  return *providers[static_cast<std::size_t>(info - provider::Providers().data())];
}

inline std::string MutateReply(std::string_view good, FuzzInput& input) {
  std::string body(good);
  for (unsigned changes = input.Below(4); changes > 0 && !body.empty(); --changes) {
    const std::size_t at = (input.Below(256) << 8 | input.Below(256)) % body.size();
    const std::size_t length = input.Flag() ? input.Below(3) : input.Below(40);
    switch (input.Below(5)) {
      case 0:
        body[at] = static_cast<char>(input.Below(256));
        break;
      case 1:
        body.replace(at, length, input.Pick(kReplyPieces));
        break;
      case 2:
        body.insert(at, body.substr(at, length));
        break;
      case 3:
        body.erase(at, length);
        break;
      default:
        body.insert(at, input.Pick(kReplyPieces));
    }
  }
  return body;
}

inline http::Headers FuzzHeaders(FuzzInput& input) {
  static constexpr std::array<std::string_view, 4> kNames = {
      "retry-after", "retry-after-ms", "x-ratelimit-reset-tokens", "location"};
  static constexpr std::array<std::string_view, 12> kValues = {"1",
                                                               "1e308",
                                                               "6m0s",
                                                               "-1",
                                                               "inf",
                                                               "Sun, 06 Nov 1994 08:49:37 GMT",
                                                               "9999999999999999999",
                                                               "..",
                                                               "ms",
                                                               "",
                                                               "https://a@evil/",
                                                               "\xFF"};
  http::Headers headers;
  headers.AddReceived(input.Pick(kNames), input.Pick(kValues));
  return headers;
}

/// Returns whether the reply was taken.
inline bool FuzzProvider(std::string_view bytes) {
  const auto require = [](bool condition, const std::string& what) {
    if (!condition) {
      throw std::logic_error(what);
    }
  };
  static const provider::Endpoint endpoint{"https://api.example.com/v1", std::string(kFuzzKey)};
  FuzzInput input(bytes);
  const ReplySeed& seed = kReplySeeds[input.Below(kReplySeeds.size())];
  http::Response response;
  response.status = seed.status;
  response.body = MutateReply(seed.body, input);
  response.headers = FuzzHeaders(input);
  provider::Embeddings embeddings;
  const Result<void> result = FuzzedProvider(seed.implementation)
                                  .Parse(response, endpoint, kFuzzTexts, WallTime(), embeddings);
  if (result.ok()) {
    require(seed.status == 200, "an error was taken for a reply");
    require(embeddings.dimensions == kFuzzDimensions, "other dimensions");
    require(embeddings.values.size() == kFuzzTexts * kFuzzDimensions, "another number of values");
    for (const float value : embeddings.values) {
      require(std::isfinite(value), "a value that is not finite");
    }
    return true;
  }
  const Failure& failure = result.failure();
  require(embeddings.values.empty() && embeddings.dimensions == 0, "a partial result");
  for (const std::string& text : {failure.message, failure.provider_code}) {
    require(utf8::IsValid(text), "a message that is not UTF-8");
    require(text.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos, "two lines");
    require(text.find(kFuzzKey.substr(0, 8)) == std::string::npos, "the key in: " + text);
    require(text.size() < 600, "a message without end");
  }
  require(failure.retry_after.value_or(std::chrono::milliseconds(0)).count() >= 0, "a wait back");
  return false;
}

}  // namespace ai::fuzz
