// Tests of core/http/fetch.hpp: waiting for answers without an event loop, and being stopped.
#include "core/http/fetch.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/http/curl_transport.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/fake_transport.hpp"
#include "unit/http_fixture.hpp"

using ai::ErrorCode;
using ai::FailureClass;
using ai::http::CurlTransport;
using ai::http::Fetch;
using ai::http::FetchAll;
using ai::http::Request;
using ai::test::ConnectionFailure;
using ai::test::ContainsSubstring;
using ai::test::FakeTransport;
using ai::test::Get;
using ai::test::IsError;
using ai::test::ManualClock;
using ai::test::MockProvider;
using ai::test::Options;
using ai::test::Reply;
using ai::test::ScopedFd;
using namespace std::chrono_literals;

namespace {

std::chrono::steady_clock::time_point interrupt_at;

bool InterruptedByTime() {
  return std::chrono::steady_clock::now() >= interrupt_at;
}

int checks = 0;

bool CountChecks() {
  ++checks;
  return false;
}

std::vector<Request> Requests(int count) {
  std::vector<Request> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(Get("http://a/" + std::to_string(i)));
  }
  return requests;
}

}  // namespace

TEST_CASE("fetching one answer", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  const auto result = Fetch(transport, Get(mock.Url()), nullptr);
  CHECK(result->status == 200);
  const auto refused = Fetch(transport, Get("http://elsewhere.test/"), nullptr);
  CHECK(refused.failure().failure_class == FailureClass::kConfiguration);
}

TEST_CASE("fetching stops within 100 ms of the interrupt", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Rules(R"({"hang": "before"})");
  interrupt_at = std::chrono::steady_clock::now() + 60ms;
  CHECK_THROWS_MATCHES(Fetch(transport, Get(mock.Url()), InterruptedByTime), ai::Error,
                       IsError(ErrorCode::kCancelled));
  CHECK(std::chrono::steady_clock::now() - interrupt_at < 100ms);
  CHECK(transport.in_flight() == 0);
  mock.WaitFor("open_at_most=0");
}

TEST_CASE("a wake-up for nothing is no busy loop", "[http][mock]") {
  MockProvider mock;
  CurlTransport transport(Options());
  mock.Rules(R"({"latency_ms": 120})");
  const ScopedFd wake(eventfd(1, EFD_CLOEXEC));
  checks = 0;
  CHECK(Fetch(transport, Get(mock.Url()), CountChecks, wake.get())->status == 200);
  CHECK(checks >= 2);
  CHECK(checks < 12);
}

TEST_CASE("several answers come in the order of the requests", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  std::size_t most = 0;
  transport.SetResponder([&](const Request& request) {
    most = std::max(most, transport.in_flight() + 1);
    const int number = std::stoi(request.url.substr(9));
    return Reply(200, request.url.substr(9), 10ms * (number % 3));
  });
  const auto result = FetchAll(transport, Requests(20), 4, nullptr);
  REQUIRE(result.ok());
  REQUIRE(result->size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(result->at(i).body == std::to_string(i));
  }
  CHECK(most == 4);
  CHECK(FetchAll(transport, {}, 4, nullptr)->empty());
}

TEST_CASE("the first failure ends all", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  transport.SetResponder([](const Request& request) {
    return request.url == "http://a/2" ? ConnectionFailure(5ms) : Reply(200, "", 10ms);
  });
  const auto result = FetchAll(transport, Requests(50), 4, nullptr);
  REQUIRE_FALSE(result.ok());
  CHECK_THAT(result.failure().message, ContainsSubstring("could not connect"));
  CHECK(transport.in_flight() == 0);
  CHECK(transport.requests().size() == 4);
}

TEST_CASE("at least one is in flight, and an interrupt ends them all", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  transport.SetResponder([](const Request&) { return Reply(200, "", 10ms); });
  CHECK(FetchAll(transport, Requests(2), 0, nullptr)->size() == 2);
  CHECK_THROWS_MATCHES(FetchAll(transport, Requests(2), 2, [] { return true; }), ai::Error,
                       IsError(ErrorCode::kCancelled));
  CHECK(transport.in_flight() == 0);
}
