// Tests of core/provider/models: the lists of OpenAI and Ollama.
#include "core/provider/models.hpp"

#include <string>

#include "unit/catch_bridge.hpp"
#include "unit/provider_fixture.hpp"

using ai::FailureClass;
using ai::test::ContainsSubstring;
using ai::test::kNow;
using ai::test::Reply;
using ai::test::TestEndpoint;

TEST_CASE("OpenAI's list of models", "[provider]") {
  const ai::http::Request request = ai::provider::BuildOpenAiModels(TestEndpoint());
  CHECK(request.method == ai::http::Method::kGet);
  CHECK(request.url == "https://api.example.com/v1/models");
  CHECK(request.body.empty());
  CHECK(request.headers.Find("authorization") == "Bearer " + std::string(ai::test::kKey));
  CHECK_FALSE(request.headers.Find("content-type").has_value());
  const auto models = ai::provider::ParseOpenAiModels(
      Reply(200, R"({"object":"list","data":[{"id":"text-embedding-3-small","object":"model",)"
                 R"("created":1705948997,"owned_by":"system"},{"id":"local","object":"model"}]})"),
      TestEndpoint(), kNow);
  REQUIRE(models.ok());
  REQUIRE(models->size() == 2);
  CHECK(models.value()[0].id == "text-embedding-3-small");
  CHECK(models.value()[0].created == 1'705'948'997);
  CHECK(models.value()[0].owned_by == "system");
  CHECK(models.value()[1].id == "local");
  CHECK_FALSE(models.value()[1].created.has_value());
  CHECK(models.value()[1].owned_by.empty());
}

TEST_CASE("Ollama's list of models", "[provider]") {
  CHECK(ai::provider::BuildOllamaModels({"http://localhost:11434"}).url ==
        "http://localhost:11434/api/tags");
  const auto models = ai::provider::ParseOllamaModels(
      Reply(200,
            R"({"models":[{"name":"nomic-embed-text:latest","model":"nomic-embed-text:latest",)"
            R"("modified_at":"2025-05-04T17:37:44.706015396-07:00","size":274302450,)"
            R"("digest":"0a109f422b47","details":{"parent_model":"","format":"gguf",)"
            R"("family":"nomic-bert","families":["nomic-bert","x"],"parameter_size":"137M",)"
            R"("quantization_level":"F16"}},{"name":"bare","details":{"families":null}}]})"),
      TestEndpoint(), kNow);
  REQUIRE(models.ok());
  REQUIRE(models->size() == 2);
  const ai::provider::OllamaModel& first = models.value()[0];
  CHECK(first.name == "nomic-embed-text:latest");
  CHECK(first.model == "nomic-embed-text:latest");
  CHECK(first.size == 274'302'450);
  CHECK(first.digest == "0a109f422b47");
  CHECK(first.family == "nomic-bert");
  CHECK(first.format == "gguf");
  CHECK(first.families == std::vector<std::string>{"nomic-bert", "x"});
  CHECK(first.parent_model.empty());
  CHECK(first.parameter_size == "137M");
  CHECK(first.quantization_level == "F16");
  CHECK(first.modified_at == "2025-05-04T17:37:44.706015396-07:00");
  CHECK(models.value()[1].name == "bare");
  CHECK_FALSE(models.value()[1].size.has_value());
}

TEST_CASE("a list that is none is refused", "[provider]") {
  const auto failure = [](int status, const std::string& body) {
    return ai::provider::ParseOpenAiModels(Reply(status, body), TestEndpoint(), kNow).failure();
  };
  for (const char* body :
       {"", "null", "{}", R"({"data":5})", R"({"data":[5]})", R"({"data":[{"id":null}]})",
        R"({"data":[{"id":"a\u0000b"}]})", R"({"data":[{"id":"a","created":"x"}]})"}) {
    INFO(body);
    CHECK(failure(200, body).failure_class == FailureClass::kInvalidReply);
    CHECK_THAT(failure(200, body).message,
               ContainsSubstring("reply from https://api.example.com/v1/models cannot be read: "));
  }
  CHECK(failure(401, R"({"error":{"message":"no"}})").message ==
        "HTTP status 401 from https://api.example.com/v1/models: no");
  CHECK(failure(401, "").failure_class == FailureClass::kConfiguration);
}
