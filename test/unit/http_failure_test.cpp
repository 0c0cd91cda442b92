// Tests of what core/http/curl_transport.hpp makes of trouble: class and message of each kind.
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/http/curl_transport.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/http_fixture.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::http::CurlTransport;
using ai::http::Request;
using ai::test::Ask;
using ai::test::ContainsSubstring;
using ai::test::Get;
using ai::test::HangingResolver;
using ai::test::Listener;
using ai::test::MockProvider;
using ai::test::Options;
using ai::test::Post;
using ai::test::ScopedDirectory;
using ai::test::ScopedFd;
using ai::test::ScriptedServer;
using ai::test::StartsWith;
using namespace std::chrono_literals;

namespace {

const std::string kEmbed = R"({"model": "mock-1024", "input": "some text"})";

/// The failure of a request with a key, which must be of one line and show nothing but the
/// endpoint.
Failure FailureOf(CurlTransport& transport, Request request) {
  request.headers.Add("Authorization", "Bearer canary-key");
  const std::string path = request.url.substr(request.url.find('/', 8));
  const auto result = Ask(transport, std::move(request));
  REQUIRE_FALSE(result.ok());
  const std::string& message = result.failure().message;
  CHECK(message.find("canary") == std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  CHECK((path.size() < 2 || message.find(path) == std::string::npos));
  CHECK(message.find("query") == std::string::npos);
  return result.failure();
}

std::string Endpoint(const std::string& url) {
  return url.substr(0, url.find('/', 8));
}

}  // namespace

TEST_CASE("connection refused", "[http]") {
  std::string url;
  {
    const Listener listener;
    url = listener.Url();
  }
  CurlTransport transport(Options());
  const Failure failure = FailureOf(transport, Get(url));
  CHECK(failure.failure_class == FailureClass::kTransient);
  CHECK(failure.message == "could not connect to " + Endpoint(url) + ": Connection refused");
  CHECK(failure.http_status == 0);
}

TEST_CASE("a name that nobody knows", "[http]") {
  CurlTransport transport(Options("nobody.test"));
  const Failure failure = FailureOf(transport, Get("http://nobody.test:8080/path?query"));
  CHECK(failure.failure_class == FailureClass::kTransient);
  CHECK(failure.message == "could not resolve the host name of http://nobody.test:8080");
}

TEST_CASE("a name that is not resolved in time", "[http]") {
  const HangingResolver resolver;
  CurlTransport transport(Options("hang.test"));
  Request request = Get("http://hang.test/path?query");
  request.timeouts.connect = 50ms;
  const Failure failure = FailureOf(transport, std::move(request));
  CHECK(failure.failure_class == FailureClass::kTransient);
  CHECK(failure.message == "could not connect to http://hang.test within 50 ms");
}

TEST_CASE("a connection that is never accepted", "[http]") {
  const Listener full(0);
  // Fills the queue of connections to accept: after these the system ignores others.
  std::vector<std::unique_ptr<ScopedFd>> fillers;
  for (int i = 0; i < 3; ++i) {
    fillers.push_back(
        std::make_unique<ScopedFd>(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    const sockaddr_in address = ai::test::Loopback(full.port());
    (void)connect(fillers.back()->get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof(address));
  }
  CurlTransport transport(Options());
  Request request = Get(full.Url());
  request.timeouts.connect = 80ms;
  const Failure failure = FailureOf(transport, std::move(request));
  CHECK(failure.failure_class == FailureClass::kTransient);
  CHECK(failure.message == "could not connect to " + Endpoint(full.Url()) + " within 80 ms");
}

TEST_CASE("requests that wait for a free connection fail too", "[http][mock]") {
  auto options = Options();
  options.max_connections_per_host = 1;
  CurlTransport transport(std::move(options));
  MockProvider mock;
  mock.Rules(R"({"hang": "before"})");
  Request request = Get(mock.Url());
  request.timeouts.total = 80ms;
  SECTION("when nobody answers") {
    const Listener listener;
    request.url = listener.Url();
  }
  SECTION("when the answer does not come in time") {}
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    transport.Submit(request);
  }
  std::size_t failed = 0;
  while (failed < 5) {
    transport.Poll(100ms);
    for (const auto& finished : transport.Collect()) {
      CHECK(finished.result.failure().failure_class == FailureClass::kTransient);
      ++failed;
    }
  }
  CHECK(std::chrono::steady_clock::now() - start < 2s);
}

TEST_CASE("an answer that does not come in time", "[http][mock]") {
  MockProvider mock;
  for (const auto where : {"before", "head", "body"}) {
    CAPTURE(where);
    mock.Rules(R"({"hang": ")" + std::string(where) + "\"}");
    CurlTransport transport(Options());
    Request request = Post(mock.Url("/v1/embeddings"), kEmbed);
    request.timeouts.total = 80ms;
    const auto start = std::chrono::steady_clock::now();
    const Failure failure = FailureOf(transport, std::move(request));
    CHECK(std::chrono::steady_clock::now() - start < 1s);
    CHECK(failure.failure_class == FailureClass::kTransient);
    CHECK(failure.message == "no complete answer from " + Endpoint(mock.Url()) + " within 80 ms");
  }
}

TEST_CASE("an answer that comes drop by drop", "[http][mock]") {
  MockProvider mock;
  auto options = Options();
  options.low_speed = {1000, 60ms};
  CurlTransport transport(std::move(options));
  mock.Rules(R"({"drip": {"bytes": 1, "every_ms": 5}})");
  const Failure failure = FailureOf(transport, Post(mock.Url("/v1/embeddings"), kEmbed));
  CHECK(failure.failure_class == FailureClass::kTransient);
  CHECK(failure.message ==
        "answer of " + Endpoint(mock.Url()) + " came too slowly: fewer than 1000 bytes in 60 ms");
  CHECK(failure.http_status == 200);
  // A long time before the first byte is no low speed.
  mock.Rules(R"({"latency_ms": 200})");
  CHECK(Ask(transport, Get(mock.Url()))->status == 200);
  // Neither are drops that are large enough.
  mock.Rules(R"({"drip": {"bytes": 1000, "every_ms": 10}})");
  CHECK(Ask(transport, Post(mock.Url("/v1/embeddings"), kEmbed))->status == 200);
}

TEST_CASE("a connection that ends amid the answer", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  for (const auto rule :
       {R"({"close": "before"})", R"({"close": "head"})", R"({"close": "body"})",
        R"({"reset": "before"})", R"({"reset": "head"})", R"({"reset": "body"})",
        R"({"framing": "long_length"})", R"({"framing": "chunked", "close": "body"})"}) {
    CAPTURE(rule);
    mock.Rules(rule);
    const Failure failure = FailureOf(transport, Post(mock.Url("/v1/embeddings"), kEmbed));
    CHECK(failure.failure_class == FailureClass::kTransient);
    CHECK(failure.message ==
          "connection to " + Endpoint(mock.Url()) + " broke before the answer was complete");
  }
}

TEST_CASE("a server that hangs up at once", "[http]") {
  ScriptedServer server("");
  CurlTransport transport(Options());
  CHECK(FailureOf(transport, Get(server.Url())).failure_class == FailureClass::kTransient);
  const Failure failure = FailureOf(transport, Get(server.Url("https")));
  CHECK(failure.failure_class == FailureClass::kTransient);
  CHECK_THAT(failure.message, ContainsSubstring(Endpoint(server.Url("https"))));
}

TEST_CASE("an answer above the limit", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  for (const auto rule : {R"({"enormous_bytes": 100000000})",
                          R"({"enormous_bytes": 100000000, "framing": "chunked"})",
                          R"({"enormous_bytes": 100000000, "framing": "until_close"})"}) {
    CAPTURE(rule);
    mock.Rules(rule);
    Request request = Post(mock.Url("/v1/embeddings"), kEmbed);
    request.max_response_bytes = 100'000;
    const Failure failure = FailureOf(transport, std::move(request));
    CHECK(failure.failure_class == FailureClass::kInvalidReply);
    CHECK(failure.message ==
          "answer of " + Endpoint(mock.Url()) + " is larger than the limit of 100000 bytes");
    CHECK(failure.http_status == 200);
  }
  mock.WaitFor("open_at_most=0");
}

TEST_CASE("the limit is exact", "[http]") {
  ScriptedServer server("HTTP/1.1 200 OK\r\n\r\n12345");
  CurlTransport transport(Options());
  Request request = Get(server.Url());
  request.max_response_bytes = 5;
  CHECK(Ask(transport, request)->body == "12345");
  request.max_response_bytes = 4;
  CHECK(Ask(transport, request).failure().failure_class == FailureClass::kInvalidReply);
  request.max_response_bytes = 0;
  CHECK(Ask(transport, request).failure().failure_class == FailureClass::kInvalidReply);
}

TEST_CASE("headers above the limit", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Rules(R"({"header_bytes": 400000})");
  const Failure failure = FailureOf(transport, Get(mock.Url()));
  CHECK(failure.failure_class == FailureClass::kInvalidReply);
}

TEST_CASE("compressed answers", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  const std::string plain = Ask(transport, Get(mock.Url()))->body;
  mock.Rules(R"({"gzip": "when_asked"})");
  CHECK(Ask(transport, Get(mock.Url()))->body == plain);

  SECTION("are counted as they are when decompressed") {
    mock.Rules(R"({"gzip": "always", "body": ")" + std::string(200'000, 'a') + "\"}");
    CHECK(Ask(transport, Get(mock.Url()))->body.size() == 200'000);
    Request request = Get(mock.Url());
    request.max_response_bytes = 100'000;
    const Failure failure = FailureOf(transport, std::move(request));
    CHECK(failure.failure_class == FailureClass::kInvalidReply);
    CHECK_THAT(failure.message, ContainsSubstring("larger than the limit of 100000 bytes"));
  }
  SECTION("may be corrupt") {
    mock.Rules(R"({"gzip": "corrupt"})");
    const Failure failure = FailureOf(transport, Get(mock.Url()));
    CHECK(failure.failure_class == FailureClass::kInvalidReply);
    CHECK(failure.message == "answer of " + Endpoint(mock.Url()) + " is not valid HTTP");
  }
}

TEST_CASE("an answer that is no HTTP", "[http]") {
  for (const auto reply : {"SSH-2.0-OpenSSH_9.2\r\n", "\x16\x03\x01 what is this\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\nno\r\n",
                           "HTTP/9.9 200 OK\r\n\r\nno", "<html>no</html>\r\n\r\n"}) {
    CAPTURE(reply);
    ScriptedServer server(reply);
    CurlTransport transport(Options());
    const Failure failure = FailureOf(transport, Get(server.Url()));
    CHECK((failure.failure_class == FailureClass::kInvalidReply ||
           failure.failure_class == FailureClass::kTransient));
    CHECK_THAT(failure.message, ContainsSubstring(Endpoint(server.Url())));
  }
}

TEST_CASE("a URL that cannot be used ends as a failure", "[http]") {
  CurlTransport transport(Options());
  for (const auto url : {"", "gopher://127.0.0.1/", "http://a b/", "http://u:canary@127.0.0.1/"}) {
    CAPTURE(url);
    const auto result = Ask(transport, Get(url));
    CHECK(result.failure().failure_class == FailureClass::kConfiguration);
    CHECK_THAT(result.failure().message, StartsWith("invalid URL: "));
    CHECK(result.failure().message.find("canary") == std::string::npos);
  }
  CHECK(transport.in_flight() == 0);
}

TEST_CASE("a host that is not allowed is not even resolved", "[http]") {
  CurlTransport transport(Options("localhost"));
  const Failure failure = FailureOf(transport, Get("http://hang.test/path?query"));
  CHECK(failure.failure_class == FailureClass::kConfiguration);
  CHECK(failure.message ==
        "request to http://hang.test was refused: host \"hang.test\" is not listed in "
        "ai.allowed_hosts");
}

TEST_CASE("an allowed name at a forbidden address is refused before a connection", "[http]") {
  CurlTransport transport(Options("*"));
  for (const auto host : {"metadata.test", "linklocal6.test", "mapped.test"}) {
    CAPTURE(host);
    const Failure failure =
        FailureOf(transport, Get("http://" + std::string(host) + "/latest?query"));
    CHECK(failure.failure_class == FailureClass::kConfiguration);
    CHECK_THAT(failure.message, ContainsSubstring("host \"" + std::string(host) + "\" is at "));
    CHECK_THAT(failure.message, ContainsSubstring("which ai.allowed_hosts cannot allow"));
  }
  const Failure loopback = FailureOf(transport, Get("http://loopback.test/"));
  CHECK(loopback.failure_class == FailureClass::kConfiguration);
  CHECK_THAT(loopback.message, ContainsSubstring("loopback address 127.0.0.1"));
}

TEST_CASE("what resolves into an allowed range, or is listed by name, is reached", "[http]") {
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const std::string url = server.Url();
  const std::string port = url.substr(url.find(':', 7), url.find('/', 8) - url.find(':', 7));
  CurlTransport by_name(Options("loopback.test, both.test"));
  CHECK(Ask(by_name, Get("http://loopback.test" + port))->body == "ok");
  // Of two addresses the forbidden one is passed over.
  CHECK(Ask(by_name, Get("http://both.test" + port))->body == "ok");
  CurlTransport by_range(Options("10.0.0.0/8"));
  CHECK_THAT(FailureOf(by_range, Get("http://loopback.test" + port + "/")).message,
             ContainsSubstring("not listed by its name"));
}

TEST_CASE("certificates are verified", "[http][mock]") {
  const ScopedDirectory directory;
  std::vector<std::string> arguments = {"--tls", directory.path()};
  const std::string ca_file = directory.path() + "/ca.pem";
  SECTION("a good one, with its authority") {
    MockProvider mock(arguments);
    auto options = Options();
    options.ca_file = ca_file;
    CurlTransport transport(options);
    CHECK(Ask(transport, Get(mock.TlsUrl()))->status == 200);
    CHECK(Ask(transport, Get(mock.TlsUrl()))->status == 200);
    CHECK(mock.Counter("connections") == 1);
  }
  SECTION("of an authority nobody knows") {
    MockProvider mock(arguments);
    CurlTransport transport(Options());
    const Failure failure = FailureOf(transport, Get(mock.TlsUrl()));
    CHECK(failure.failure_class == FailureClass::kConfiguration);
    CHECK_THAT(failure.message,
               StartsWith("could not verify the certificate of " + Endpoint(mock.TlsUrl()) + ": "));
    CHECK_THAT(failure.message, ContainsSubstring("issuer"));
    CHECK_THAT(failure.message, ContainsSubstring("ai.ca_file"));
    CHECK(mock.Counter("requests") == 0);
  }
  for (const auto flaw : {"expired", "wrong-host"}) {
    SECTION(flaw) {
      arguments.insert(arguments.end(), {"--tls-flaw", flaw});
      MockProvider mock(arguments);
      auto options = Options();
      options.ca_file = ca_file;
      CurlTransport transport(options);
      const Failure failure = FailureOf(transport, Get(mock.TlsUrl()));
      CHECK(failure.failure_class == FailureClass::kConfiguration);
      CHECK_THAT(failure.message, StartsWith("could not verify the certificate of " +
                                             Endpoint(mock.TlsUrl()) + ": "));
      CHECK(mock.Counter("requests") == 0);
    }
  }
  SECTION("with a file of authorities that is not there") {
    MockProvider mock(arguments);
    auto options = Options();
    options.ca_file = directory.path() + "/missing.pem";
    CurlTransport transport(options);
    const Failure failure = FailureOf(transport, Get(mock.TlsUrl()));
    CHECK(failure.failure_class == FailureClass::kConfiguration);
    CHECK_THAT(failure.message, ContainsSubstring("ai.ca_file"));
  }
}
