// Tests of core/provider: replies as the services send them, and everything that can be wrong with
// a reply of status 200.
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "unit/catch_bridge.hpp"
#include "unit/provider_fixture.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::test::ContainsSubstring;
using ai::test::FailureOf;
using ai::test::kNow;
using ai::test::Reply;
using ai::test::StartsWith;
using ai::test::TestEndpoint;
using ai::test::TestProvider;
using ai::test::Values;

namespace {

constexpr const char* kThree = R"("model":"m","dimensions":3)";

/// A reply of OpenAI with these items.
std::string OpenAiList(const std::string& items) {
  return R"({"object":"list","data":[)" + items +
         R"(],"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}})";
}

std::string Item(const std::string& embedding, const std::string& index) {
  return R"({"object":"embedding","index":)" + index + R"(,"embedding":)" + embedding + "}";
}

/// What is said about a reply to two texts, with three dimensions.
std::string Complaint(std::string_view implementation, const std::string& body) {
  const auto provider = TestProvider(implementation, kThree);
  ai::provider::Embeddings embeddings;
  embeddings.values = {1, 2, 3};
  auto reply = Reply(200, body);
  const auto result = provider->Parse(reply, TestEndpoint(), 2, kNow, embeddings);
  REQUIRE_FALSE(result.ok());
  CHECK(embeddings.values.empty());
  CHECK(embeddings.dimensions == 0);
  CHECK_FALSE(embeddings.input_tokens.has_value());
  CHECK(result.failure().failure_class == FailureClass::kInvalidReply);
  CHECK(result.failure().http_status == 200);
  const std::string& message = result.failure().message;
  CHECK_THAT(message, StartsWith("reply from https://api.example.com/v1/"));
  CHECK_THAT(message, ContainsSubstring(" for model \"m\" "));
  return message.substr(message.find("\"m\" ") + 4);
}

}  // namespace

TEST_CASE("OpenAI's reply in base64", "[provider]") {
  const auto provider = TestProvider("openai", kThree);
  // 0.5, -1, 2 and 0.25, 0, -0.125
  const auto result = provider->Parse(Reply(200, R"({
  "object": "list",
  "data": [
    {
      "object": "embedding",
      "index": 0,
      "embedding": "AAAAPwAAgL8AAABA"
    },
    {
      "object": "embedding",
      "index": 1,
      "embedding": "AACAPgAAAAAAAAC+"
    }
  ],
  "model": "text-embedding-3-small",
  "usage": {
    "prompt_tokens": 11,
    "total_tokens": 12
  }
}
)"),
                                      TestEndpoint(), 2, kNow);
  REQUIRE(result.ok());
  CHECK(result->values == std::vector<float>{0.5F, -1, 2, 0.25F, 0, -0.125F});
  CHECK(result->dimensions == 3);
  CHECK(result->count() == 2);
  CHECK((*result.operator->())[1][2] == -0.125F);
  CHECK(result->input_tokens == 11);
}

TEST_CASE("OpenAI's reply in numbers, as compatible servers send it", "[provider]") {
  const auto provider = TestProvider("openai", kThree);
  const std::string body =
      OpenAiList(R"({"object":"embedding","embedding":[0.0023064255,-0.009327292,1e-3],"index":0},)"
                 R"({"index":1,"meta":{"a":[1]},"embedding":[1,-2,0]})");
  CHECK(Values(*provider, Reply(200, body), 2) ==
        std::vector<float>{0.0023064255F, -0.009327292F, 1e-3F, 1, -2, 0});
}

TEST_CASE("Voyage's reply", "[provider]") {
  const auto provider = TestProvider("voyageai", kThree);
  const auto result = provider->Parse(
      Reply(200, R"({"object":"list","data":[{"object":"embedding","embedding":"AAAAPwAAgL8AAABA",)"
                 R"("index":0}],"model":"voyage-3.5","usage":{"total_tokens":10}})"),
      TestEndpoint(), 1, kNow);
  REQUIRE(result.ok());
  CHECK(result->values == std::vector<float>{0.5F, -1, 2});
  CHECK(result->input_tokens == 10);
}

TEST_CASE("Ollama's reply", "[provider]") {
  const auto provider = TestProvider("ollama", kThree);
  const auto result = provider->Parse(
      Reply(200, R"({"model":"all-minilm","embeddings":[[0.010071029,-0.0017594862,0.05007221],)"
                 R"([-0.0098027075,0.06042469,0.025257962]],"total_duration":14143917,)"
                 R"("load_duration":1019500,"prompt_eval_count":8})"),
      TestEndpoint(), 2, kNow);
  REQUIRE(result.ok());
  CHECK(result->values == std::vector<float>{0.010071029F, -0.0017594862F, 0.05007221F,
                                             -0.0098027075F, 0.06042469F, 0.025257962F});
  CHECK(result->input_tokens == 8);
}

TEST_CASE("Cohere's reply", "[provider]") {
  const auto provider = TestProvider("cohere", kThree);
  const auto result = provider->Parse(
      Reply(200, R"({"id":"3198467e-399f-4d4a-aa2c-58af93bd6dc4","embeddings":{"float":[)"
                 R"([0.016296387,-0.008354187,-0.04699707],[1,2,3]]},"texts":["hello","[1,2]"],)"
                 R"("meta":{"api_version":{"version":"2"},"billed_units":{"input_tokens":2}},)"
                 R"("response_type":"embeddings_by_type"})"),
      TestEndpoint(), 2, kNow);
  REQUIRE(result.ok());
  CHECK(result->values == std::vector<float>{0.016296387F, -0.008354187F, -0.04699707F, 1, 2, 3});
  CHECK(result->input_tokens == 2);
}

TEST_CASE("vectors are put in the order of their indexes", "[provider]") {
  const auto provider = TestProvider("openai", R"("model":"m","dimensions":2)");
  const std::string body =
      OpenAiList(Item("[5,6]", "2") + "," + Item("[1,2]", "0") + "," + Item("[3,4]", "1"));
  CHECK(Values(*provider, Reply(200, body), 3) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("without dimensions in the configuration the first vector gives them", "[provider]") {
  const auto provider = TestProvider("openai", R"("model":"m")");
  const auto body = [](const char* second) {
    return OpenAiList(Item("[1,2]", "0") + "," + Item(second, "1"));
  };
  CHECK(Values(*provider, Reply(200, body("[3,4]")), 2).size() == 4);
  CHECK_THAT(FailureOf(*provider, Reply(200, body("[3]")), 2).message,
             ContainsSubstring("at place 1 of 1 dimensions instead of 2"));
  std::string many = "[0";
  for (int i = 0; i < 16'000; ++i) {
    many += ",0";
  }
  CHECK_THAT(FailureOf(*provider, Reply(200, OpenAiList(Item(many + "]", "0"))), 1).message,
             ContainsSubstring("of more than 16000 dimensions"));
}

TEST_CASE("the memory of earlier embeddings is used again", "[provider]") {
  const auto provider = TestProvider("openai", kThree);
  auto good = Reply(200, OpenAiList(Item("[1,2,3]", "0")));
  auto same = good;
  auto bad = Reply(500, "");
  ai::provider::Embeddings embeddings;
  REQUIRE(provider->Parse(good, TestEndpoint(), 1, kNow, embeddings).ok());
  const float* const memory = embeddings.values.data();
  REQUIRE_FALSE(provider->Parse(bad, TestEndpoint(), 1, kNow, embeddings).ok());
  CHECK(embeddings.values.empty());
  REQUIRE(provider->Parse(same, TestEndpoint(), 1, kNow, embeddings).ok());
  CHECK(embeddings.values == std::vector<float>{1, 2, 3});
  CHECK(embeddings.values.data() == memory);
}

TEST_CASE("tokens are never fewer than none", "[provider]") {
  const auto provider = TestProvider("ollama", kThree);
  const auto result = provider->Parse(
      Reply(200, R"({"embeddings":[[1,2,3]],"prompt_eval_count":-5})"), TestEndpoint(), 1, kNow);
  REQUIRE(result.ok());
  CHECK(result->input_tokens == 0);
}

TEST_CASE("a reply without usage has no tokens", "[provider]") {
  const auto provider = TestProvider("ollama", kThree);
  const auto result =
      provider->Parse(Reply(200, R"({"embeddings":[[1,2,3]]})"), TestEndpoint(), 1, kNow);
  REQUIRE(result.ok());
  CHECK_FALSE(result->input_tokens.has_value());
}

TEST_CASE("what is wrong with OpenAI's reply is named", "[provider]") {
  const std::string good = Item("[1,2,3]", "0");
  const auto second = [&](const std::string& embedding, const std::string& index = "1") {
    return OpenAiList(good + "," + Item(embedding, index));
  };
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "is empty"},
      {"null", "has 0 embeddings instead of 2"},
      {"7", "has 0 embeddings instead of 2"},
      {R"([{"unexpected":true},17,"text"])", "has 0 embeddings instead of 2"},
      {"\x01\x9d{]not json at all\xff\xfe\x7f}", "cannot be read: invalid JSON at byte 1"},
      {"<!DOCTYPE html>\n<html><head><title>Maintenance</title></head></html>",
       "is an HTML page \"Maintenance\""},
      {OpenAiList(good).substr(0, 50), "cannot be read: invalid JSON at byte 50"},
      {second("[1,2,3]") + "}]garbage", "expected the end of the text"},
      {std::string(1000, '[') + std::string(1000, ']'), "nested too deeply"},
      {OpenAiList("").insert(1, "\"note\":\"\xc3\x28\","), "not valid UTF-8"},
      {OpenAiList(""), "has 0 embeddings instead of 2"},
      {OpenAiList(good), "has 1 embedding instead of 2"},
      {OpenAiList(good + "," + Item("[1,2,3]", "1") + "," + Item("[1,2,3]", "1")),
       "has more than 2 embeddings"},
      {R"({"object":"list","model":"m"})", "has 0 embeddings instead of 2"},
      {R"({"data":{"embedding":[1,2,3],"index":0}})", "has 0 embeddings instead of 2"},
      {OpenAiList("null"), "has an embedding at place 0 that is null, not an object"},
      {OpenAiList("[1,2,3]"), "has an embedding at place 0 that is an array, not an object"},
      {OpenAiList("5"), "has an embedding at place 0 that is a number, not an object"},
      {OpenAiList(R"({"index":0})"), "has no embedding at place 0"},
      {OpenAiList(R"({"embedding":[1,2,3]})"), "at place 0 without an index"},
      {OpenAiList(R"({"embedding":[1,2,3],"embedding":[1,2,3],"index":0})"),
       "at place 0 that is there twice"},
      {second("[1,2,3]", "0"), "at place 1 whose index 0 was there before"},
      {second("[1,2,3]", "2"), "at place 1 whose index 2 is not below 2"},
      {second("[1,2,3]", "-1"), "at place 1 whose index -1 is not below 2"},
      {second("[1,2,3]", "99999999999999999999"), "at place 1 whose index is a number"},
      {second("[1,2,3]", "1.5"), "at place 1 whose index is a number"},
      {second("[1,2,3]", "\"1\""), "at place 1 whose index is a string"},
      {second("[1,2,3]", "null"), "at place 1 whose index is null"},
      {second("null"), "at place 1 that is null"},
      {second("true"), "at place 1 that is a boolean"},
      {second("{}"), "at place 1 that is an object"},
      {second("5"), "at place 1 that is a number"},
      {second("[]"), "at place 1 without values"},
      {second("\"\""), "at place 1 without values"},
      {second("[1,2]"), "at place 1 of 2 dimensions instead of 3"},
      {second("[1,2,3,4]"), "at place 1 of more than 3 dimensions"},
      {second("[1,null,3]"), "at place 1 with null among its numbers"},
      {second("[1,\"2\",3]"), "at place 1 with a string among its numbers"},
      {second("[1,[2],3]"), "at place 1 with an array among its numbers"},
      {second("[1,{},3]"), "at place 1 with an object among its numbers"},
      {second("[1,false,3]"), "at place 1 with a boolean among its numbers"},
      {second("[0,-0.0,0e9]"), "at place 1 with zeros only"},
      {second("\"AAAAAAAAAAAAAAAA\""), "at place 1 with zeros only"},
      {second("[1,NaN,3]"), "cannot be read: invalid JSON at byte"},
      {second("[1,Infinity,3]"), "cannot be read: invalid JSON at byte"},
      {second("[1,1e39,3]"), "at place 1 with a value that is not a finite number"},
      {second("[1,2,-1e39]"), "at place 1 with a value that is not a finite number"},
      {second("[1,1e999,3]"), "number too large"},
      {second("\"AAAAPwAAwH8AAABA\""), "at place 1 with a value that is not a finite number"},
      {second("\"AAAAPwAAgL8AAID/\""), "at place 1 with a value that is not a finite number"},
      {second("\"AAAAPwAAgL8AAAB!\""), "at place 1 that is not valid base64"},
      {second("\"AAAAPwAAgL8AAAB\""), "at place 1 that is not valid base64"},
      {second("\"AAAAPwAAgL8=\""), "at place 1 of 2 dimensions instead of 3"},
      {second("\"AAAAPwAAgL8A\""), "base64 does not end with a whole number"},
      {second("\"AAAAPwAAgL8AAABAAAAAAA==\""), "at place 1 of more than 3 dimensions"},
  };
  for (const auto& [body, complaint] : cases) {
    INFO(body.substr(0, 200));
    CHECK_THAT(Complaint("openai", body), ContainsSubstring(std::string(complaint)));
  }
}

TEST_CASE("what is wrong with the others' replies is named", "[provider]") {
  const std::pair<std::string_view, std::string_view> ollama[] = {
      {R"({"embeddings":[]})", "has 0 embeddings instead of 2"},
      {R"({"embeddings":null})", "has 0 embeddings instead of 2"},
      {R"({"embeddings":[[1,2,3]]})", "has 1 embedding instead of 2"},
      {R"({"embeddings":[[1,2,3],null]})", "at place 1 that is null"},
      {R"({"embeddings":[[1,2,3],"AAAAPwAAgL8AAABA"]})", "at place 1 that is a string"},
      {R"({"embeddings":[[1,2,3],[1,2,3],[1,2,3]]})", "has more than 2 embeddings"},
      {R"({"embeddings":[1,2,3]})", "at place 0 that is a number"},
      {R"({"embedding":[1,2,3]})", "has 0 embeddings instead of 2"},
  };
  for (const auto& [body, complaint] : ollama) {
    INFO(body);
    CHECK_THAT(Complaint("ollama", std::string(body)), ContainsSubstring(std::string(complaint)));
  }
  const std::pair<std::string_view, std::string_view> cohere[] = {
      {R"({"embeddings":{"float":[[1,2,3]]}})", "has 1 embedding instead of 2"},
      {R"({"embeddings":{"int8":[[1,2,3],[1,2,3]]}})", "has 0 embeddings instead of 2"},
      {R"({"embeddings":[[1,2,3],[1,2,3]]})", "has 0 embeddings instead of 2"},
      {R"({"embeddings":{"float":[[1,2,3],[1,2]]}})", "at place 1 of 2 dimensions instead of 3"},
      {R"({"embeddings":{"float":[{"a":1}]}})", "at place 0 that is an object"},
  };
  for (const auto& [body, complaint] : cohere) {
    INFO(body);
    CHECK_THAT(Complaint("cohere", std::string(body)), ContainsSubstring(std::string(complaint)));
  }
}

TEST_CASE("an error that comes with status 200 is an error", "[provider]") {
  const auto provider = TestProvider("openai", kThree);
  const Failure failure = FailureOf(
      *provider,
      Reply(200,
            R"({"error":{"message":"Incorrect API key provided","type":"invalid_request_error",)"
            R"("code":"invalid_api_key"}})"),
      1);
  CHECK(failure.failure_class == FailureClass::kConfiguration);
  CHECK(failure.provider_code == "invalid_api_key");
  CHECK(failure.message ==
        "HTTP status 200 from https://api.example.com/v1/embeddings for model \"m\": "
        "Incorrect API key provided");
  CHECK(FailureOf(*TestProvider("ollama", kThree), Reply(200, R"({"error":"strange"})"), 1)
            .failure_class == FailureClass::kTransient);
}

TEST_CASE("every finite float is taken and no other", "[provider]") {
  const auto provider = TestProvider("ollama", R"("model":"m")");
  const auto parse = [&](const std::string& numbers) {
    return provider->Parse(Reply(200, "{\"embeddings\":[[" + numbers + "]]}"), TestEndpoint(), 1,
                           kNow);
  };
  CHECK(parse("3.4028234663852886e38").value().values[0] == std::numeric_limits<float>::max());
  CHECK(parse("-3.4028234663852886e38,1e-45,-0.0,1e-400").ok());
  for (const char* numbers : {"3.5e38", "-3.5e38", "0,3.5e38", "0,0,3.5e38", "3.5e38,0,0,0"}) {
    INFO(numbers);
    CHECK_THAT(parse(numbers).failure().message, ContainsSubstring("not a finite number"));
  }
}
