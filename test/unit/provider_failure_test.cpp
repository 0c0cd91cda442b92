// Tests of core/provider: which class an error is of, and how it is told.
#include <chrono>
#include <string>
#include <string_view>

#include "core/provider/words.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/provider_fixture.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::provider::CleanWords;
using ai::test::ContainsSubstring;
using ai::test::EndsWith;
using ai::test::FailureOf;
using ai::test::kKey;
using ai::test::Reply;
using ai::test::TestProvider;

namespace {

using enum FailureClass;

constexpr std::string_view kUrl = "https://api.example.com/v1/embeddings";

/// An error as OpenAI sends it.
std::string OpenAiError(const std::string& message, const std::string& type,
                        const std::string& code) {
  return R"({"error":{"message":")" + message + R"(","type":")" + type +
         R"(","param":null,"code":)" + (code.empty() ? "null" : "\"" + code + "\"") + "}}";
}

Failure Fail(const ai::http::Response& response) {
  return FailureOf(*TestProvider("openai", R"("model":"m")"), response, 1);
}

/// What stands behind the endpoint and the model.
std::string Words(const std::string& body, int status = 400) {
  const std::string message = Fail(Reply(status, body)).message;
  const std::string before =
      "HTTP status " + std::to_string(status) + " from " + std::string(kUrl) + " for model \"m\"";
  REQUIRE(message.starts_with(before));
  return message.substr(before.size());
}

}  // namespace

TEST_CASE("every error has its class", "[provider]") {
  struct Case {
    int status;
    std::string body;
    FailureClass failure_class;
  };
  const std::string invalid = "invalid_request_error";
  const Case cases[] = {
      // By the status alone.
      {300, "", kConfiguration},
      {307, "", kConfiguration},
      {400, "", kSuspect},
      {401, "", kConfiguration},
      {402, "", kConfiguration},
      {403, "", kConfiguration},
      {404, "", kSuspect},
      {405, "", kConfiguration},
      {408, "", kTransient},
      {409, "", kTransient},
      {410, "", kConfiguration},
      {413, "", kSuspect},
      {418, "", kTransient},
      {422, "", kSuspect},
      {425, "", kTransient},
      {429, "", kDeferred},
      {500, "", kTransient},
      {501, "", kTransient},
      {502, "", kTransient},
      {503, "", kTransient},
      {504, "", kTransient},
      {529, "", kTransient},
      {204, "", kTransient},
      {0, "", kTransient},
      {999, "", kTransient},
      // OpenAI.
      {429, OpenAiError("Rate limit reached for m", "requests", "rate_limit_exceeded"), kDeferred},
      {429, OpenAiError("You exceeded your current quota", "insufficient_quota", ""),
       kConfiguration},
      {429, OpenAiError("x", "insufficient_quota", "insufficient_quota"), kConfiguration},
      {429, OpenAiError("x", "", "billing_hard_limit_reached"), kConfiguration},
      {429,
       OpenAiError("Request too large for m on tokens per min", "tokens", "rate_limit_exceeded"),
       kSuspect},
      {429, OpenAiError("The engine is currently overloaded, please try again later", "x", ""),
       kDeferred},
      {400, OpenAiError("This model's maximum context length is 8192 tokens", invalid, ""),
       kSuspect},
      {400,
       OpenAiError("Requested 300001 tokens", "max_tokens_per_request", "max_tokens_per_request"),
       kSuspect},
      {400, OpenAiError("Invalid 'input': array too long", invalid, "array_above_max_length"),
       kSuspect},
      {400, OpenAiError("'$.input' is invalid", invalid, ""), kSuspect},
      {400, OpenAiError("Incorrect API key provided", invalid, "invalid_api_key"), kConfiguration},
      {400, OpenAiError("This model does not support specifying dimensions.", invalid, ""),
       kConfiguration},
      {404, OpenAiError("The model `m` does not exist", invalid, "model_not_found"),
       kConfiguration},
      {404, OpenAiError("The model `m` does not exist.", "NotFoundError", ""), kConfiguration},
      {404, OpenAiError("Invalid URL (POST /v1/embedding)", invalid, ""), kConfiguration},
      {500, OpenAiError("The server had an error", "server_error", ""), kTransient},
      {500, OpenAiError("wrapped", "", "insufficient_quota"), kConfiguration},
      {503, OpenAiError("Too many requests", "", ""), kDeferred},
      {422,
       R"({"detail":[{"type":"extra_forbidden","loc":["body","dimensions"],)"
       R"("msg":"Extra inputs are not permitted"}]})",
       kConfiguration},
      // Google's API for OpenAI's clients.
      {400,
       R"([{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}])",
       kConfiguration},
      {429,
       R"([{"error":{"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}])",
       kDeferred},
      // Ollama.
      {404, R"({"error":"model \"x\" not found, try pulling it first"})", kConfiguration},
      {400, R"({"error":"the input length exceeds the context length"})", kSuspect},
      {500, R"({"error":"the input length exceeds the context length"})", kSuspect},
      {400, R"({"error":"\"llama3\" does not support embeddings"})", kConfiguration},
      {500, R"({"error":"llama runner process has terminated: signal: killed"})", kTransient},
      {503, R"({"error":"server busy, please try again. maximum pending requests exceeded"})",
       kTransient},
      {404, "404 page not found", kConfiguration},
      // Voyage.
      {400, R"({"detail":"Model x is not supported."})", kConfiguration},
      {400, R"({"detail":"The example at index 0 in your batch has too many tokens"})", kSuspect},
      {401, R"({"detail":"Provided API key is invalid."})", kConfiguration},
      {429, R"({"detail":"You have not yet added your payment method in the billing page"})",
       kDeferred},
      {400, R"({"detail":"The server is temporarily overloaded."})", kTransient},
      {404, R"({"detail":"Not Found"})", kConfiguration},
      {422, R"({"detail":[{"loc":["body"],"msg":"value is not a valid list","type":"x"}]})",
       kSuspect},
      // Cohere.
      {404,
       R"({"id":"1","message":"model 'x' not found, make sure the correct model ID was used"})",
       kConfiguration},
      {429,
       R"({"message":"You are using a Trial key, which is limited to 1000 API calls / month."})",
       kConfiguration},
      {429,
       R"({"message":"You are using a Trial key, which is limited to 40 API calls / minute."})",
       kDeferred},
      {400, R"({"message":"invalid request: output_dimension is not supported"})", kConfiguration},
      {400, R"({"message":"invalid request: text at index 0 is too long"})", kSuspect},
      // Proxies.
      {400, R"({"message":"upstream temporarily unavailable"})", kTransient},
      {400, "Request timed out", kTransient},
      {404, "<html><title>404 Not Found</title></html>", kConfiguration},
      {502, "<html><title>502 Bad Gateway</title></html>", kTransient},
  };
  for (const Case& test : cases) {
    INFO(test.status << " " << test.body);
    const Failure failure = Fail(Reply(test.status, test.body));
    CHECK(ai::Name(failure.failure_class) == ai::Name(test.failure_class));
    CHECK(failure.http_status == test.status);
  }
}

TEST_CASE("a failure names endpoint, model, status and the provider's words", "[provider]") {
  const Failure failure = Fail(Reply(
      429, OpenAiError("Rate limit reached. Please try again in 6m0s.", "tokens", "rate_limit")));
  CHECK(failure.message ==
        "HTTP status 429 from https://api.example.com/v1/embeddings for model \"m\": "
        "Rate limit reached. Please try again in 6m0s.");
  CHECK(failure.provider_code == "rate_limit");
  CHECK(failure.retry_after == std::chrono::minutes(6));
  CHECK(Fail(Reply(500, OpenAiError("x", "server_error", ""))).provider_code == "server_error");
  CHECK(Words("", 503).empty());
}

TEST_CASE("a server that does not want dimensions gets a hint", "[provider]") {
  const auto provider = TestProvider("openai", R"("model":"m","dimensions":8)");
  const auto hint = [&](int status, const std::string& words) {
    return FailureOf(*provider, Reply(status, OpenAiError(words, "", "")), 1).hint;
  };
  CHECK_THAT(hint(400,
                  "Model m does not support matryoshka representation, changing output "
                  "dimensions will lead to poor results."),
             ContainsSubstring("use send_dimensions => false in ai.embedding_openai"));
  CHECK_THAT(hint(422, "Extra inputs are not permitted"), ContainsSubstring("send_dimensions"));
  CHECK(hint(401, "Incorrect API key provided").empty());
  CHECK(hint(500, "dimensions").empty());
}

TEST_CASE("the words are found in every form", "[provider]") {
  CHECK(Words(R"({"error":"short"})") == ": short");
  CHECK(Words(R"({"detail":"short"})") == ": short");
  CHECK(Words(R"({"id":"1","message":"short"})") == ": short");
  CHECK(Words(R"({"object":"error","message":"short","type":"t","code":400})") == ": short");
  CHECK(Words(R"({"detail":[{"loc":["body",1],"msg":"short"},{"msg":"second"}]})") == ": short");
  CHECK(Words(R"({"message":"outer","error":{"message":"inner"}})") == ": inner");
  CHECK(Words(R"({"error":{"message":null},"message":"short"})") == ": short");
  CHECK(Words("  plain text\n") == ": plain text");
  CHECK(Words(R"({"error":{"message":"cut off","type":"x)") == ": cut off");
  CHECK(Words(R"({"something":"else"})").empty());
  CHECK(Words(R"({"error":{"message":5}})").empty());
}

TEST_CASE("a page of HTML is reduced to its title", "[provider]") {
  CHECK(Words("<html>\r\n<head><TITLE>\n502 Bad\tGateway </TITLE></head>\r\n<body>...") ==
        ": an HTML page \"502 Bad Gateway\"");
  CHECK(Words("\n<!DOCTYPE html><html><body>" + std::string(100'000, 'x')) == ": an HTML page");
  CHECK(Words("<html><title>no end") == ": an HTML page \"no end\"");
}

TEST_CASE("a redirect is not followed and names the host only", "[provider]") {
  const auto redirect = [](const char* location) {
    const Failure failure =
        Fail(Reply(302, "see there", ai::http::Headers{{"Location", location}}));
    CHECK(failure.failure_class == kConfiguration);
    return failure.message.substr(failure.message.find("\"m\"") + 3);
  };
  CHECK(redirect("https://user:pw@evil.example:8443/path?token=1") ==
        ": a redirect to host \"evil.example\", which is not followed");
  CHECK(redirect("/v2/embeddings") == ": a redirect, which is not followed");
  CHECK(Words("", 301) == ": a redirect, which is not followed");
}

TEST_CASE("the key is never shown", "[provider]") {
  const std::string key(kKey);
  const std::string shown[] = {
      key,
      key.substr(0, 12),
      key.substr(key.size() - 8),
      "sk-test*******cdef",
      "sk-other-key-0000000",
      "Bearer " + key,
      "x" + key + "y",
      "key=" + key + ";",
      "sk-te...cdef",
  };
  for (const std::string& part : shown) {
    INFO(part);
    const std::string words = Words(OpenAiError("Incorrect key: " + part + ". See", "", ""));
    CHECK_THAT(words, ContainsSubstring("[key]"));
    CHECK_THAT(words, EndsWith(". See"));
    CHECK_THAT(words, !ContainsSubstring("sk-"));
    CHECK_THAT(words, !ContainsSubstring("cdef"));
  }
  const Failure failure = Fail(Reply(400, OpenAiError("m", "", key)));
  CHECK(failure.provider_code == "[key]");
}

TEST_CASE("keys of any form are hidden", "[provider]") {
  CHECK(CleanWords("got ab/cd+ef==gh here", "ab/cd+ef==gh") == "got [key] here");
  CHECK(CleanWords("got ab/cd+ef==", "ab/cd+ef==gh") == "got [key]");
  CHECK(CleanWords("token abcd...wxyz", "abcdefghijklmnopqrstuvwxyz") == "token [key]");
  CHECK(CleanWords("token ab***yz.", "") == "token [key].");
  CHECK(CleanWords("pa-AbCdEfGh123 is bad", "") == "[key] is bad");
  CHECK(CleanWords("pa-rt of the task-1", "") == "pa-rt of the task-1");
  CHECK(CleanWords("short k", "k") == "short k");
  CHECK(CleanWords("my test", "test") == "my [key]");
}

TEST_CASE("a text that a server repeats is cut off", "[provider]") {
  CHECK(Words(R"({"message":"[{'type': 'list_type', 'msg': 'bad', 'input': 'private text'}]"})") ==
        ": [{'type': 'list_type', 'msg': 'bad'");
  CHECK(Words(R"({"error":"bad: {\"input\":[\"private\"]}"})") == ": bad:");
  CHECK(Words(R"({"error":"Invalid 'input': array too long."})") ==
        ": Invalid 'input': array too long.");
  CHECK(Words(R"({"message":"bad [input_value='private']"})") == ": bad [");
}

TEST_CASE("words are one line of valid UTF-8 of limited length", "[provider]") {
  CHECK(CleanWords("a\r\n\tb\x01\x7F  c\xC2\x85 d ", "") == "a b c d");
  CHECK(CleanWords(std::string_view("a\0b", 3), "") == "a b");
  CHECK(CleanWords("a\xE2\x80\xA8"
                   "b",
                   "") == "a b");
  CHECK(CleanWords("a\xFF\xC3z", "") == "a??z");
  CHECK(CleanWords("\xEF\xBF\xBD", "") == "\xEF\xBF\xBD");
  const std::string exact(300, 'x');
  CHECK(CleanWords(exact, "") == exact);
  CHECK(CleanWords(exact + "y", "") == std::string(297, 'x') + "...");
  std::string wide;
  for (int i = 0; i < 200; ++i) {
    wide += "\xC3\xA9";
  }
  CHECK(CleanWords(wide, "").size() == 299);
  CHECK(CleanWords(std::string(1 << 20, 'x'), "").size() == 300);
}

TEST_CASE("a model of any name fits into a message", "[provider]") {
  const auto provider = TestProvider("openai", R"("model":"a\nb)" + std::string(500, 'x') + "\"");
  const std::string message = FailureOf(*provider, Reply(500, ""), 1).message;
  CHECK_THAT(message, ContainsSubstring("for model \"a bxxx"));
  CHECK(message.size() < 250);
}
