// Tests of core/provider: what goes out, and that nothing can be smuggled into it.
#include <string>
#include <string_view>
#include <vector>

#include "core/provider/extras.hpp"
#include "core/provider/openai.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/provider_fixture.hpp"

using ai::ErrorCode;
using ai::provider::Endpoint;
using ai::provider::HostOf;
using ai::provider::JoinUrl;
using ai::test::IsError;
using ai::test::TestEndpoint;
using ai::test::TestProvider;

namespace {

const std::vector<std::string_view> kTexts = {"one", "two \"quoted\"\n"};

std::string Body(std::string_view implementation, const std::string& members) {
  return TestProvider(implementation, members)->Build(kTexts, TestEndpoint()).body;
}

}  // namespace

TEST_CASE("a request to OpenAI", "[provider]") {
  const auto provider = TestProvider(
      "openai", R"("model":"text-embedding-3-small","dimensions":768,"chat_user":"u1")");
  const ai::http::Request request = provider->Build(kTexts, TestEndpoint());
  CHECK(request.method == ai::http::Method::kPost);
  CHECK(request.url == "https://api.example.com/v1/embeddings");
  CHECK(request.headers.Find("authorization") == "Bearer " + std::string(ai::test::kKey));
  CHECK(request.headers.Find("content-type") == "application/json");
  CHECK(request.body == R"({"model":"text-embedding-3-small","input":["one","two \"quoted\"\n"],)"
                        R"("encoding_format":"base64","dimensions":768,"user":"u1"})");
  CHECK(provider->model() == "text-embedding-3-small");
  CHECK(provider->dimensions() == 768);
}

TEST_CASE("what OpenAI must not be told is left out", "[provider]") {
  CHECK(Body("openai", R"("model":"text-embedding-ada-002","dimensions":1536)") ==
        R"({"model":"text-embedding-ada-002","input":["one","two \"quoted\"\n"],)"
        R"("encoding_format":"base64"})");
  CHECK(Body("openai", R"("model":"m","dimensions":null,"chat_user":null)") ==
        R"({"model":"m","input":["one","two \"quoted\"\n"],"encoding_format":"base64"})");
}

TEST_CASE("models with vectors of one length are not told their dimensions", "[provider]") {
  const auto tells = [](const std::string& model, const std::string& more = "") {
    return Body("openai", R"("model":")" + model + R"(","dimensions":8)" + more)
               .find(R"("dimensions":8)") != std::string::npos;
  };
  for (const auto model : {"text-embedding-3-small", "Qwen/Qwen3-Embedding-0.6B", "embed-v4",
                           "nomic-ai/nomic-embed-text-v1.5", "some/e5", "my-bge-m3"}) {
    CAPTURE(model);
    CHECK(tells(model));
    CHECK_FALSE(tells(model, R"(,"send_dimensions":false)"));
  }
  for (const auto model : {"text-embedding-ada-002", "azure-text-embedding-ada-002", "BAAI/bge-m3",
                           "bge-large-en-v1.5", "intfloat/multilingual-e5-large", "mistral-embed",
                           "sentence-transformers/all-MiniLM-L6-v2", "intfloat/e5-base-v2"}) {
    CAPTURE(model);
    CHECK_FALSE(tells(model));
    CHECK(tells(model, R"(,"send_dimensions":true)"));
  }
}

TEST_CASE("what a caller adds to the body goes before what we would write", "[provider]") {
  CHECK(Body("openai", R"("model":"m","dimensions":8,"chat_user":"u","extra_body":)"
                       R"({"encoding_format":"float","dimensions":null,"user":"v","a":[1]})") ==
        R"({"model":"m","input":["one","two \"quoted\"\n"],)"
        R"("encoding_format":"float","dimensions":null,"user":"v","a":[1]})");
  for (const auto key : {"model", "input"}) {
    CAPTURE(key);
    CHECK_THROWS_MATCHES(
        Body("openai", R"("model":"m","extra_body":{")" + std::string(key) + R"(":"x"})"),
        ai::Error,
        IsError(ErrorCode::kInvalidParameter,
                "extra_body must not have the member \"" + std::string(key) + "\""));
  }
  CHECK_THROWS_AS(Body("openai", R"("model":"m","extra_body":[1])"), ai::Error);
}

TEST_CASE("headers and a query can be added to a request, and nothing else by them", "[provider]") {
  const auto request = [](const std::string& members) {
    const auto config = ai::json::Document::Parse("{\"model\":\"m\"," + members + "}");
    ai::provider::Endpoint endpoint = TestEndpoint();
    ai::provider::AddExtras(config.root(), endpoint);
    return ai::provider::OpenAi(config.root()).Build(kTexts, endpoint);
  };
  const auto good =
      request(R"("extra_headers":{"X-Text":"a b","X-Number":1.5},)"
              R"("extra_query":{"api-version":"2024-02-01","a&b=?#/":"\u00e9\r\n ","flag":true})");
  CHECK(good.url ==
        "https://api.example.com/v1/embeddings?"
        "api-version=2024-02-01&a%26b%3D%3F%23%2F=%C3%A9%0D%0A%20&flag=true");
  CHECK(good.headers.Find("x-text") == "a b");
  CHECK(good.headers.Find("x-number") == "1.5");
  CHECK(good.headers.Find("authorization") == "Bearer " + std::string(ai::test::kKey));
  CHECK(request(R"("extra_headers":null,"extra_query":{})").headers.size() == 3);

  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"("extra_headers":{"X":"secret\r\nY: 1"})", "invalid value of HTTP header \"X\""},
      {R"("extra_headers":{"X":"secret\u0000"})", "invalid value of HTTP header \"X\""},
      {R"("extra_headers":{"X: Y\r\nZ":"1"})", "invalid name of an HTTP header"},
      {R"("extra_headers":{"":"1"})", "invalid name of an HTTP header"},
      {R"("extra_headers":{"AUTHORIZATION":"Bearer secret"})",
       "extra_headers must not have the header \"AUTHORIZATION\""},
      {R"("extra_headers":{"host":"secret"})", "extra_headers must not have the header \"host\""},
      {R"("extra_headers":{"Content-Length":1})",
       "extra_headers must not have the header \"Content-Length\""},
      {R"("extra_headers":{"Transfer-Encoding":"chunked"})",
       "extra_headers must not have the header \"Transfer-Encoding\""},
      {R"("extra_headers":{"Proxy-Authorization":"secret"})",
       "extra_headers must not have the header \"Proxy-Authorization\""},
      {R"("extra_headers":{"X":["secret"]})",
       "extra_headers.X must be a text, a number or a boolean, not an array"},
      {R"("extra_query":{"x":null})",
       "extra_query.x must be a text, a number or a boolean, not null"},
  };
  for (const auto& [members, message] : bad) {
    CAPTURE(members);
    CHECK_THROWS_MATCHES(request(std::string(members)), ai::Error,
                         IsError(ErrorCode::kInvalidParameter, std::string(message)));
  }
}

TEST_CASE("a failure on the way names the model and the status", "[provider]") {
  const auto provider = TestProvider("openai", R"("model":"m")");
  CHECK(provider->Explain({ai::FailureClass::kTransient, "no answer from x"}).message ==
        "no answer from x (model \"m\")");
  CHECK(provider->Explain({ai::FailureClass::kTransient, "it broke", 200}).message ==
        "it broke (model \"m\", HTTP status 200)");
}

TEST_CASE("OpenAI takes tokens", "[provider]") {
  const auto config = ai::json::Document::Parse(R"({"model":"m","dimensions":8})");
  const ai::provider::OpenAi provider(config.root());
  const std::vector<std::vector<ai::token::TokenId>> inputs = {{1, 22, 333}, {100257}};
  const ai::http::Request request = provider.BuildFromTokens(inputs, TestEndpoint());
  CHECK(request.url == "https://api.example.com/v1/embeddings");
  CHECK(request.body == R"({"model":"m","input":[[1,22,333],[100257]],)"
                        R"("encoding_format":"base64","dimensions":8})");
  CHECK_THROWS_MATCHES(provider.BuildFromTokens({}, TestEndpoint()), ai::Error,
                       IsError(ErrorCode::kInvalidParameter, "there is no text to embed"));
}

TEST_CASE("a request to Ollama", "[provider]") {
  const auto provider =
      TestProvider("ollama", R"("model":"nomic-embed-text","dimensions":768,"keep_alive":"5m",)"
                             R"("options":{"num_ctx":1024,"stop":["a",null]})");
  const ai::http::Request request = provider->Build(kTexts, {"http://localhost:11434/"});
  CHECK(request.url == "http://localhost:11434/api/embed");
  CHECK_FALSE(request.headers.Find("authorization").has_value());
  CHECK(request.body ==
        R"({"model":"nomic-embed-text","input":["one","two \"quoted\"\n"],"truncate":true,)"
        R"("options":{"num_ctx":1024,"stop":["a",null]},"keep_alive":"5m"})");
}

TEST_CASE("Ollama's keep_alive is a duration or a number of seconds", "[provider]") {
  const auto body = [](const std::string& value) {
    const std::string text = Body("ollama", R"("model":"m","keep_alive":")" + value + "\"");
    return text.substr(text.find("\"truncate\":true") + 15);
  };
  CHECK(body("-1") == R"(,"keep_alive":-1})");
  CHECK(body("300") == R"(,"keep_alive":300})");
  CHECK(body("1h30m") == R"(,"keep_alive":"1h30m"})");
  CHECK(body("99999999999") == R"(,"keep_alive":"99999999999"})");
  CHECK(body("") == "}");
}

TEST_CASE("a request to Voyage", "[provider]") {
  const auto provider =
      TestProvider("voyageai", R"("model":"voyage-3.5","dimensions":512,"input_type":"document")");
  const ai::http::Request request = provider->Build(kTexts, TestEndpoint());
  CHECK(request.url == "https://api.example.com/v1/embeddings");
  CHECK(request.body ==
        R"({"model":"voyage-3.5","input":["one","two \"quoted\"\n"],"input_type":"document",)"
        R"("truncation":true,"encoding_format":"base64","output_dimension":512})");
  // It has vectors of one length and refuses to be asked.
  CHECK(Body("voyageai", R"("model":"voyage-2","dimensions":1024)") ==
        R"({"model":"voyage-2","input":["one","two \"quoted\"\n"],)"
        R"("truncation":true,"encoding_format":"base64"})");
}

TEST_CASE("a request to Cohere", "[provider]") {
  const auto provider = TestProvider(
      "cohere", R"("model":"embed-v4.0","dimensions":1024,"input_type":"search_query")");
  const ai::http::Request request = provider->Build(kTexts, {"https://api.cohere.com/v2", "k"});
  CHECK(request.url == "https://api.cohere.com/v2/embed");
  CHECK(request.headers.Find("authorization") == "Bearer k");
  CHECK(request.body ==
        R"({"model":"embed-v4.0","texts":["one","two \"quoted\"\n"],"input_type":"search_query",)"
        R"("truncate":"END","embedding_types":["float"],"output_dimension":1024})");
  CHECK(Body("cohere", R"("model":"embed-english-v3.0","dimensions":1024,"truncate":"NONE")") ==
        R"({"model":"embed-english-v3.0","texts":["one","two \"quoted\"\n"],)"
        R"("input_type":"search_document","truncate":"NONE","embedding_types":["float"]})");
}

TEST_CASE("a base URL is joined with exactly one slash", "[provider]") {
  CHECK(JoinUrl("https://host/v1", "embeddings") == "https://host/v1/embeddings");
  CHECK(JoinUrl("https://host/v1///", "embeddings") == "https://host/v1/embeddings");
  CHECK(JoinUrl("HTTP://host", "api/embed") == "HTTP://host/api/embed");
  CHECK(JoinUrl("http://[::1]:8080/", "x") == "http://[::1]:8080/x");
  CHECK(JoinUrl("http://127.0.0.1:65535", "x") == "http://127.0.0.1:65535/x");
}

TEST_CASE("a base URL that could be anything else is refused", "[provider]") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "must begin with http:// or https://"},
      {"host/v1", "must begin with http:// or https://"},
      {"ftp://host", "must begin with http:// or https://"},
      {"file:///etc/passwd", "must begin with http:// or https://"},
      {"https://", "must begin with http:// or https://"},
      {"https:///v1", "must begin with http:// or https://"},
      {"https:host", "must begin with http:// or https://"},
      {"https://user@host/v1", "must not have a user name"},
      {"https://user:secret@host/v1", "must not have a user name"},
      {"https://good.example@evil.example", "must not have a user name"},
      {"https://host/v1?key=1", "neither a query nor a fragment"},
      {"https://host/v1#x", "neither a query nor a fragment"},
      {"https://host?", "neither a query nor a fragment"},
      {"https://host/a b", "a character that is not allowed"},
      {"https://host\r\nX-Evil: 1", "a character that is not allowed"},
      {"https://host\\@evil", "a character that is not allowed"},
      {"https://h\xC3\xB6st", "a character that is not allowed"},
      {"https://host:port", "a port from 0 to 65535"},
      {"https://host:65536", "a port from 0 to 65535"},
      {"https://host:", "a port from 0 to 65535"},
      {"https://:80", "a port from 0 to 65535"},
      {"https://[::1", "a port from 0 to 65535"},
  };
  for (const auto& [url, message] : cases) {
    INFO(url);
    CHECK_THROWS_MATCHES(JoinUrl(url, "embeddings"), ai::Error,
                         IsError(ErrorCode::kInvalidParameter, std::string(message)));
  }
}

TEST_CASE("a refused base URL is not shown", "[provider]") {
  try {
    JoinUrl("https://user:pa55word@host/v1", "x");
    FAIL("not refused");
  } catch (const ai::Error& error) {
    const std::string all = error.what() + error.detail() + error.hint();
    CHECK(all.find("pa55word") == std::string::npos);
  }
}

TEST_CASE("the host of a URL", "[provider]") {
  CHECK(HostOf("https://api.example.com:8443/v1") == "api.example.com");
  CHECK(HostOf("https://user:pass@evil.example/x") == "evil.example");
  CHECK(HostOf("http://[::1]:80/") == "[::1]");
  CHECK(HostOf("/relative/path").empty());
  CHECK(HostOf("").empty());
}

TEST_CASE("a key cannot smuggle in a header", "[provider]") {
  const auto provider = TestProvider("openai", R"("model":"m")");
  for (const char* key : {"k\r\nX-Evil: 1", "k\nx", "k\rx"}) {
    CHECK_THROWS_MATCHES(provider->Build(kTexts, {"https://host", key}), ai::Error,
                         IsError(ErrorCode::kInvalidParameter, "\"Authorization\""));
  }
}

TEST_CASE("a model stays inside its string", "[provider]") {
  const std::string model = R"(m\",\"input\":[],\"x\r\nHost: evil\":\"../../v1?x)";
  const auto provider = TestProvider("openai", "\"model\":\"" + model + "\"");
  const ai::http::Request request = provider->Build(kTexts, TestEndpoint());
  CHECK(request.url == "https://api.example.com/v1/embeddings");
  CHECK(request.headers.size() == 3);
  const auto body = ai::json::Document::Parse(request.body);
  CHECK(body.root().size() == 3);
  CHECK(body.root().GetString("model") == provider->model());
  CHECK(body.root().At("input").size() == 2);
}

TEST_CASE("a request without texts or with broken ones is refused", "[provider]") {
  const auto provider = TestProvider("ollama", R"("model":"m")");
  CHECK_THROWS_MATCHES(provider->Build({}, TestEndpoint()), ai::Error,
                       IsError(ErrorCode::kInvalidParameter, "there is no text to embed"));
  const std::vector<std::string_view> broken = {"\xFF"};
  CHECK_THROWS_MATCHES(provider->Build(broken, TestEndpoint()), ai::Error,
                       IsError(ErrorCode::kInvalidText, "not valid UTF-8"));
}

TEST_CASE("a reply may be as large as its vectors need", "[provider]") {
  const auto small = TestProvider("openai", R"("model":"m","dimensions":2)");
  CHECK(small->Build(kTexts, TestEndpoint()).max_response_bytes < (2U << 20));
  const auto large = TestProvider("openai", R"("model":"m","dimensions":3072)");
  const std::vector<std::string_view> many(2048, "x");
  CHECK(large->Build(many, TestEndpoint()).max_response_bytes > 2048U * 3072 * 25);
  const auto unknown = TestProvider("openai", R"("model":"m")");
  CHECK(unknown->Build(many, TestEndpoint()).max_response_bytes == 256U << 20);
}

TEST_CASE("the table of providers", "[provider]") {
  for (const ai::provider::ProviderInfo& info : ai::provider::Providers()) {
    INFO(info.implementation);
    CHECK(ai::provider::FindProvider(info.implementation) == &info);
    CHECK_NOTHROW(JoinUrl(info.default_base_url, "x"));
    CHECK(info.needs_key == !info.api_key_name.empty());
    const std::string host(HostOf(info.default_base_url));
    CHECK((info.hosts.empty() ? host == "localhost" : host == info.hosts.front()));
    CHECK(TestProvider(info.implementation, R"("model":"m")")->model() == "m");
  }
  CHECK(ai::provider::FindProvider("openai")->base_url_setting == "ai.openai_base_url");
  CHECK(ai::provider::FindProvider("ollama")->base_url_setting == "ai.ollama_host");
  CHECK(ai::provider::FindProvider("voyageai")->api_key_name == "VOYAGE_API_KEY");
  CHECK(ai::provider::FindProvider("none") == nullptr);
}

TEST_CASE("a configuration that is none is refused", "[provider]") {
  CHECK_THROWS_MATCHES(TestProvider("local", R"("model":"m")"), ai::Error,
                       IsError(ErrorCode::kNotSupported, "no embedding provider \"local\""));
  CHECK_THROWS_MATCHES(TestProvider("openai", R"("dimensions":3)"), ai::Error,
                       IsError(ErrorCode::kInvalidParameter, "model is empty"));
  CHECK_THROWS_MATCHES(TestProvider("cohere", R"("model":"")"), ai::Error,
                       IsError(ErrorCode::kInvalidParameter, "model is empty"));
  CHECK_THROWS_MATCHES(TestProvider("openai", R"("model":5)"), ai::Error,
                       IsError(ErrorCode::kInvalidText, "must be a string"));
  for (const char* dimensions : {"-1", "16001"}) {
    CHECK_THROWS_MATCHES(
        TestProvider("openai", std::string(R"("model":"m","dimensions":)") + dimensions), ai::Error,
        IsError(ErrorCode::kInvalidParameter, "must be from 1 to 16000"));
  }
  CHECK_THROWS_MATCHES(TestProvider("ollama", R"("model":"m","options":[1])"), ai::Error,
                       IsError(ErrorCode::kInvalidText, "must be an object"));
}
