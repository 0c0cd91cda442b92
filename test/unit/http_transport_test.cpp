// Tests of core/http/curl_transport.hpp against the mock provider: what works, how to wait, how to
// cancel. What goes wrong on the way is in http_failure_test.cpp.
#include "core/http/curl_transport.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "core/http/buffer_pool.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/http_fixture.hpp"

using ai::ErrorCode;
using ai::http::BufferPool;
using ai::http::Completion;
using ai::http::CurlTransport;
using ai::http::Request;
using ai::http::RequestId;
using ai::test::Ask;
using ai::test::ContainsSubstring;
using ai::test::Get;
using ai::test::HangingResolver;
using ai::test::IsError;
using ai::test::MockProvider;
using ai::test::Options;
using ai::test::Post;
using ai::test::ScopedFd;
using ai::test::ScriptedServer;
using namespace std::chrono_literals;

namespace {

using Time = std::chrono::steady_clock::time_point;

Time Now() {
  return std::chrono::steady_clock::now();
}

const std::string kEmbed = R"({"model": "mock-4", "input": "some text"})";

/// Waits as a worker does, with the wait given, until so many requests have ended.
template <typename Wait>
std::vector<Completion> Loop(CurlTransport& transport, std::size_t count, const Wait& wait) {
  std::vector<Completion> all;
  while (all.size() < count) {
    const auto hint = transport.NextWait();
    wait(hint.fd, hint.timeout ? static_cast<int>(hint.timeout->count()) : -1);
    transport.Drive();
    for (Completion& finished : transport.Collect()) {
      all.push_back(std::move(finished));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a request is answered", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  Request request = Post(mock.Url("/v1/embeddings"), kEmbed);
  request.headers.Add("Authorization", "Bearer some-key");
  request.headers.Add("X-Empty", "");
  const auto result = Ask(transport, std::move(request));
  REQUIRE(result.ok());
  CHECK(result->status == 200);
  CHECK(result->headers.Find("content-type") == "application/json");
  CHECK_THAT(result->body, ContainsSubstring("\"embedding\""));
  CHECK(transport.in_flight() == 0);

  const std::string stats = mock.Control("GET", "/control/stats", "");
  CHECK_THAT(stats, ContainsSubstring("ai/test"));
  CHECK_THAT(stats, ContainsSubstring("gzip"));
}

TEST_CASE("a status of any kind is an answer, a redirect is not followed", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  CHECK(Ask(transport, Get(mock.Url("/nowhere")))->status == 404);
  mock.Rules(R"({"status": 429, "retry_after": 7})");
  const auto limited = Ask(transport, Get(mock.Url()));
  CHECK(limited->status == 429);
  CHECK(limited->headers.Find("Retry-After") == "7");
  mock.Rules(R"({"redirect": "http://127.0.0.1:1/elsewhere"})");
  const auto redirect = Ask(transport, Get(mock.Url()));
  CHECK(redirect->status == 307);
  CHECK(redirect->headers.Find("Location") == "http://127.0.0.1:1/elsewhere");
}

TEST_CASE("the head that is sent has no surprises", "[http]") {
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  CurlTransport transport(Options());
  Request request = Post(server.Url(), "");
  request.headers = {{"X-Empty", ""}, {"X-Blank", "  "}, {"X-One", "1"}};
  const auto reply = Ask(transport, std::move(request));
  REQUIRE(reply->body == "ok");
  server.Stop();
  const std::string& head = server.heads().at(0);
  CHECK_THAT(head, ContainsSubstring("POST /some/path?a=query HTTP/1.1\r\n"));
  CHECK_THAT(head, ContainsSubstring("X-Empty:\r\n"));
  CHECK_THAT(head, ContainsSubstring("X-Blank:\r\n"));
  CHECK_THAT(head, ContainsSubstring("X-One: 1\r\n"));
  CHECK_THAT(head, ContainsSubstring("User-Agent: ai/test\r\n"));
  CHECK_THAT(head, ContainsSubstring("Accept-Encoding: gzip\r\n"));
  CHECK_THAT(head, ContainsSubstring("Content-Length: 0\r\n"));
  for (const auto unwanted : {"Expect", "Content-Type", "Cookie", "Authorization", "Upgrade"}) {
    CHECK(head.find(unwanted) == std::string::npos);
  }
}

TEST_CASE("interim answers, repeated and malformed headers", "[http]") {
  ScriptedServer server(
      "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nX-A:  1 \r\nx-a: 2\r\nB ad: x\r\nX-Empty:\r\nContent-Length: "
      "2\r\n\r\nok");
  CurlTransport transport(Options());
  const auto result = Ask(transport, Get(server.Url()));
  REQUIRE(result.ok());
  CHECK(result->status == 200);
  CHECK(result->headers.Find("X-A") == "1");
  CHECK(result->headers.Find("X-Empty") == "");
  CHECK_FALSE(result->headers.Find("Link").has_value());
  CHECK_FALSE(result->headers.Find("B ad").has_value());
}

TEST_CASE("connections are kept and used again", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  for (int i = 0; i < 20; ++i) {
    REQUIRE(Ask(transport, Post(mock.Url("/v1/embeddings"), kEmbed))->status == 200);
  }
  CHECK(mock.Counter("requests") == 20);
  CHECK(mock.Counter("connections") == 1);
}

TEST_CASE("the memory of an answer that was read is used again", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  const std::string large = R"({"model": "mock-16384", "input": "a"})";
  auto first = Ask(transport, Post(mock.Url("/v1/embeddings"), large));
  const char* const memory = first->body.data();
  const std::string copy = first->body;
  transport.Recycle(std::move(first.value().body));
  const auto second = Ask(transport, Post(mock.Url("/v1/embeddings"), large));
  CHECK(second->body == copy);
  CHECK(second->body.data() == memory);
}

TEST_CASE("only so much memory is kept", "[http]") {
  BufferPool pool(2);
  pool.Give("small");
  CHECK(pool.bytes() == 0);
  CHECK(pool.Take().empty());
  for (int i = 0; i < 3; ++i) {
    pool.Give(std::string(BufferPool::kSmallest, 'a'));
  }
  CHECK(pool.bytes() >= 2 * BufferPool::kSmallest);
  CHECK(pool.bytes() < 3 * BufferPool::kSmallest);
  const std::string buffer = pool.Take();
  CHECK(buffer.empty());
  CHECK(buffer.capacity() >= BufferPool::kSmallest);
  std::string large;
  large.reserve(BufferPool::kMaxBytes);
  pool.Give(std::move(large));
  CHECK(pool.bytes() < 2 * BufferPool::kSmallest);
  pool.Take();
  CHECK(pool.bytes() == 0);
}

TEST_CASE("a kept connection that the server closed is replaced", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Control("POST", "/control/settings", R"({"requests_per_connection": 1})");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(Ask(transport, Get(mock.Url()))->status == 200);
  }
  // Unannounced: the server closes after the reply.
  mock.Control("POST", "/control/reset", "");
  mock.Rules(R"({"close": "after"})");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(Ask(transport, Get(mock.Url()))->status == 200);
    mock.WaitFor("open_at_most=0");
  }
  CHECK(mock.Counter("requests") == 3);
}

TEST_CASE("200 requests, 16 in flight, each answered once with its own answer", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Rules(R"({"latency_ms": 2})");
  std::set<RequestId> expected;
  int submitted = 0;
  int answered = 0;
  while (answered < 200) {
    while (submitted < 200 && transport.in_flight() < 16) {
      const auto id = transport.Submit(Post(mock.Url("/v1/embeddings"), kEmbed));
      REQUIRE(expected.insert(id).second);
      ++submitted;
    }
    transport.Poll(1s);
    for (const Completion& finished : transport.Collect()) {
      REQUIRE(expected.erase(finished.id) == 1);
      REQUIRE(finished.result->status == 200);
      ++answered;
    }
  }
  CHECK(transport.in_flight() == 0);
  CHECK(mock.Counter("requests") == 200);
  CHECK(mock.Counter("connections") <= 16);
  CHECK(mock.Counter("most_in_flight") > 4);
}

TEST_CASE("no more connections than allowed, the other requests wait", "[http][mock]") {
  MockProvider mock;
  auto options = Options();
  SECTION("per host") {
    options.max_connections_per_host = 3;
  }
  SECTION("in all") {
    options.max_connections = 3;
  }
  CurlTransport transport(std::move(options));
  mock.Rules(R"({"latency_ms": 5})");
  for (int i = 0; i < 12; ++i) {
    transport.Submit(Get(mock.Url()));
  }
  std::size_t answered = 0;
  while (answered < 12) {
    transport.Poll(1s);
    answered += transport.Collect().size();
  }
  CHECK(mock.Counter("most_open") == 3);
}

TEST_CASE("one descriptor serves any event loop", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  const int descriptor = transport.NextWait().fd;
  REQUIRE(descriptor >= 0);
  CHECK_FALSE(transport.NextWait().timeout.has_value());
  mock.Rules(R"({"latency_ms": 20})");
  for (int i = 0; i < 4; ++i) {
    transport.Submit(Post(mock.Url("/v1/embeddings"), kEmbed));
  }
  int turns = 0;
  SECTION("poll") {
    Loop(transport, 4, [&](int fd, int timeout) {
      REQUIRE(fd == descriptor);
      pollfd waiting = {fd, POLLIN, 0};
      poll(&waiting, 1, timeout);
      ++turns;
    });
  }
  SECTION("epoll") {
    const ScopedFd outer(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event = {};
    event.events = EPOLLIN;
    REQUIRE(epoll_ctl(outer.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
    Loop(transport, 4, [&](int, int timeout) {
      epoll_wait(outer.get(), &event, 1, timeout);
      ++turns;
    });
  }
  // Not a busy loop: 20 ms of waiting are a few turns.
  CHECK(turns < 100);
  CHECK_FALSE(transport.NextWait().timeout.has_value());
}

TEST_CASE("a wait ends when the caller is woken, and at its time", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Rules(R"({"hang": "before"})");
  transport.Submit(Get(mock.Url()));
  const ScopedFd wake(eventfd(0, EFD_CLOEXEC));
  const Time start = Now();
  CHECK_FALSE(transport.Poll(60ms, wake.get()));
  CHECK(Now() - start >= 60ms);
  CHECK(Now() - start < 1s);
  REQUIRE(eventfd_write(wake.get(), 1) == 0);
  CHECK(transport.Poll(10s, wake.get()));
  CHECK(transport.in_flight() == 1);
  eventfd_t value = 0;
  REQUIRE(eventfd_read(wake.get(), &value) == 0);
  CHECK(value == 1);
  CHECK_FALSE(transport.Poll(0ms, wake.get()));
}

TEST_CASE("a poll reports that the caller was woken even if a request finished", "[http]") {
  CurlTransport transport(Options());
  transport.Submit(Get("no URL"));
  const ScopedFd wake(eventfd(1, EFD_CLOEXEC));
  CHECK(transport.NextWait().timeout == 0ms);
  CHECK(transport.Poll(10s, wake.get()));
  CHECK(transport.Collect().size() == 1);
}

TEST_CASE("cancelling a request that hangs takes no time", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Rules(R"({"hang": "body"})");
  const RequestId a = transport.Submit(Post(mock.Url("/v1/embeddings"), kEmbed));
  transport.Submit(Post(mock.Url("/v1/embeddings"), kEmbed));
  while (mock.Counter("hanging") < 2) {
    transport.Poll(5ms);
  }
  const Time start = Now();
  CHECK(transport.Cancel(a));
  CHECK_FALSE(transport.Cancel(a));
  CHECK(transport.in_flight() == 1);
  transport.CancelAll();
  CHECK(Now() - start < 100ms);
  CHECK(transport.in_flight() == 0);
  transport.Poll(0ms);
  CHECK(transport.Collect().empty());
  mock.WaitFor("open_at_most=0");
  // What is left can be used.
  mock.Rules("[]");
  CHECK(Ask(transport, Get(mock.Url()))->status == 200);
}

TEST_CASE("a request that finished but was not collected can be cancelled", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  const RequestId a = transport.Submit(Get(mock.Url()));
  const RequestId b = transport.Submit(Get("no URL"));
  while (transport.in_flight() > 0) {
    transport.Poll(100ms);
  }
  CHECK(transport.Cancel(a));
  CHECK(transport.Cancel(b));
  CHECK(transport.Collect().empty());
  CHECK_FALSE(transport.Cancel(a));
}

TEST_CASE("a transport may end with requests under way", "[http][mock]") {
  MockProvider mock;
  mock.Rules(R"([{"hang": "body", "share": 0.5}, {"latency_ms": [0, 10]}])");
  for (const auto wait : {0ms, 1ms, 5ms, 20ms}) {
    CurlTransport transport(Options());
    for (int i = 0; i < 50; ++i) {
      transport.Submit(Post(mock.Url("/v1/embeddings"), kEmbed));
    }
    const Time until = Now() + wait;
    while (Now() < until) {
      transport.Poll(1ms);
    }
    CHECK(transport.in_flight() > 0);
  }
  mock.WaitFor("open_at_most=0");
}

TEST_CASE("a resolver that hangs holds up nothing and handles no signal", "[http]") {
  HangingResolver resolver;
  Time start;
  {
    CurlTransport transport(Options("hang.test"));
    const RequestId id = transport.Submit(Get("http://hang.test/"));
    transport.Poll(1ms);
    resolver.AwaitThread();
    CHECK(HangingResolver::SignalsOfThread() == 0);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK(sigismember(&mask, SIGTERM) == 0);
    start = Now();
    CHECK(transport.Cancel(id));
    CHECK(Now() - start < 100ms);
    transport.Submit(Get("http://hang.test/"));
    transport.Poll(1ms);
    start = Now();
  }
  CHECK(Now() - start < 100ms);
}

TEST_CASE("after a fork the child can neither use nor spoil the transport", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  REQUIRE(Ask(transport, Get(mock.Url()))->status == 200);
  const pid_t child = fork();
  if (child == 0) {
    int refused = 0;
    try {
      transport.NextWait();
    } catch (const ai::Error& error) {
      refused += error.code() == ErrorCode::kInternal ? 1 : 0;
    }
    try {
      transport.Submit(Get(mock.Url()));
    } catch (const ai::Error&) {
      ++refused;
    }
    transport.~CurlTransport();
    _exit(refused == 2 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  REQUIRE(Ask(transport, Get(mock.Url()))->status == 200);
  CHECK(mock.Counter("connections") == 1);
}

TEST_CASE("a proxy is used only if asked for", "[http]") {
  ScriptedServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy");
  const std::string url = proxy.Url();
  setenv("http_proxy", url.substr(0, url.find("/some")).c_str(), 1);
  auto options = Options("host.test, 10.0.0.0/8");
  {
    CurlTransport direct(options);
    CHECK_FALSE(Ask(direct, Get("http://host.test/")).ok());
  }
  options.proxy_from_environment = true;
  CurlTransport transport(options);
  CHECK(Ask(transport, Get("http://host.test/"))->body == "proxy");
  CHECK_THAT(Ask(transport, Get("http://other.test/")).failure().message,
             ContainsSubstring("behind a proxy only hosts listed by name"));
  unsetenv("http_proxy");
}
