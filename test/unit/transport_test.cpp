// Tests of core/http's headers and of the fake transport, which many other tests rely on.
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/transport.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/fake_transport.hpp"

using ai::ErrorCode;
using ai::FailureClass;
using ai::http::Headers;
using ai::http::Request;
using ai::http::RequestId;
using ai::test::ConnectionFailure;
using ai::test::FakeTransport;
using ai::test::Hang;
using ai::test::IsError;
using ai::test::ManualClock;
using ai::test::Reply;
using namespace std::chrono_literals;
using std::string_view_literals::operator""sv;

namespace {

constexpr int kWakeFd = 99;

Request To(std::string url) {
  Request request;
  request.url = std::move(url);
  request.timeouts.total = 5s;
  return request;
}

}  // namespace

TEST_CASE("headers are found without regard to case, the first wins", "[http]") {
  const Headers headers{{"Retry-After", "7"}, {"X-A", "1"}, {"x-a", "2"}};
  REQUIRE(headers.Find("retry-after") == "7");
  REQUIRE(headers.Find("RETRY-AFTER") == "7");
  REQUIRE(headers.Find("X-a") == "1");
  REQUIRE_FALSE(headers.Find("retry").has_value());
  REQUIRE_FALSE(headers.Find("").has_value());
  REQUIRE(headers.size() == 3);
}

TEST_CASE("a header cannot smuggle in another one", "[http]") {
  Headers headers;
  const auto refused = IsError(ErrorCode::kInvalidParameter);
  for (const auto value : {"a\r\nX-Evil: 1"sv, "a\nb"sv, "a\rb"sv, "a\0b"sv}) {
    CHECK_THROWS_MATCHES(headers.Add("Authorization", value), ai::Error, refused);
    CHECK_FALSE(headers.AddReceived("Authorization", value));
  }
  for (const auto name : {""sv, "a b"sv, "a:"sv, "a\n"sv, "\xC3\xA9"sv, "a\0"sv}) {
    CHECK_THROWS_MATCHES(headers.Add(name, "x"), ai::Error, refused);
    CHECK_FALSE(headers.AddReceived(name, "x"));
  }
  REQUIRE(headers.empty());
  REQUIRE(headers.AddReceived("X-Ratelimit-Remaining", ""));
  REQUIRE(headers.Find("x-ratelimit-remaining") == "");
}

TEST_CASE("an error about a header does not show its value", "[http]") {
  Headers headers;
  try {
    headers.Add("Authorization", "Bearer secret\n");
    FAIL("accepted");
  } catch (const ai::Error& error) {
    const std::string all = error.what() + error.detail() + error.hint();
    REQUIRE(all.find("secret") == std::string::npos);
    REQUIRE(all.find("Authorization") != std::string::npos);
  }
}

TEST_CASE("replies arrive after their latency, in the order of arrival", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  transport.Enqueue(Reply(200, "slow", 300ms));
  transport.Enqueue(Reply(429, "fast", 100ms, {{"Retry-After", "3"}}));
  const RequestId slow = transport.Submit(To("http://a/"));
  const RequestId fast = transport.Submit(To("http://b/"));
  REQUIRE(slow != fast);
  REQUIRE(transport.in_flight() == 2);
  REQUIRE(transport.NextWait().timeout == 100ms);
  REQUIRE(transport.requests()[1].url == "http://b/");

  const ai::SteadyTime start = clock.Now();
  REQUIRE_FALSE(transport.Poll(50ms));
  REQUIRE(clock.Now() - start == 50ms);
  REQUIRE(transport.Collect().empty());

  transport.Poll(10s);
  REQUIRE(clock.Now() - start == 100ms);
  const auto first = transport.Collect();
  REQUIRE(first.size() == 1);
  REQUIRE(first[0].id == fast);
  REQUIRE(first[0].result->status == 429);
  REQUIRE(first[0].result->headers.Find("retry-after") == "3");
  REQUIRE(transport.Collect().empty());

  clock.Advance(1s);
  REQUIRE(transport.in_flight() == 1);
  transport.Drive();
  REQUIRE(transport.in_flight() == 0);
  REQUIRE_FALSE(transport.NextWait().timeout.has_value());
  REQUIRE(transport.Collect().at(0).result->body == "slow");
}

TEST_CASE("several replies that are due at once keep their order", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  for (const auto latency : {30ms, 10ms, 20ms, 10ms}) {
    transport.Enqueue(Reply(200, std::to_string(latency.count()), latency));
    transport.Submit(To("http://a/"));
  }
  clock.Advance(1s);
  transport.Drive();
  std::string order;
  for (const auto& completion : transport.Collect()) {
    order += completion.result->body + "/" + std::to_string(static_cast<int>(completion.id)) + " ";
  }
  REQUIRE(order == "10/2 10/4 20/3 30/1 ");
}

TEST_CASE("what goes wrong on the way is a failure with a class", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  const ai::SteadyTime start = clock.Now();

  SECTION("connection refused") {
    transport.Enqueue(ConnectionFailure(20ms));
    transport.Submit(To("http://a/"));
    transport.Poll(1s);
    REQUIRE(clock.Now() - start == 20ms);
    REQUIRE(transport.Collect().at(0).result.failure().failure_class == FailureClass::kTransient);
  }
  SECTION("a hang ends with the request's own time-out") {
    transport.Enqueue(Hang());
    transport.Submit(To("http://a/"));
    transport.Poll(1h);
    REQUIRE(clock.Now() - start == 5s);
    REQUIRE(transport.Collect().at(0).result.failure().failure_class == FailureClass::kTransient);
  }
  SECTION("so does a reply that would come too late") {
    transport.Enqueue(Reply(200, "late", 6s));
    transport.Submit(To("http://a/"));
    transport.Poll(1h);
    REQUIRE(clock.Now() - start == 5s);
    REQUIRE_FALSE(transport.Collect().at(0).result.ok());
  }
  SECTION("a reply above the limit") {
    transport.Enqueue(Reply(200, "12345"));
    Request request = To("http://a/");
    request.max_response_bytes = 4;
    transport.Submit(request);
    transport.Poll(1s);
    const auto finished = transport.Collect();
    REQUIRE(finished.at(0).result.failure().failure_class == FailureClass::kInvalidReply);
  }
}

TEST_CASE("a cancelled request never completes", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  transport.SetResponder([](const Request&) { return Reply(200, "", 10ms); });
  const RequestId a = transport.Submit(To("http://a/"));
  const RequestId b = transport.Submit(To("http://b/"));
  REQUIRE(transport.Cancel(a));
  REQUIRE_FALSE(transport.Cancel(a));
  clock.Advance(20ms);
  transport.Drive();
  REQUIRE(transport.Cancel(b));  // finished, but not yet collected
  REQUIRE(transport.Collect().empty());

  transport.Submit(To("http://c/"));
  transport.CancelAll();
  REQUIRE(transport.in_flight() == 0);
  transport.Poll(1s);
  REQUIRE(transport.Collect().empty());
}

TEST_CASE("waiting ends early when the worker is woken", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  transport.Enqueue(Hang());
  transport.Submit(To("http://a/"));
  transport.WakeAfter(300ms);
  const ai::SteadyTime start = clock.Now();
  REQUIRE_FALSE(transport.Poll(100ms, kWakeFd));
  REQUIRE(transport.Poll(100s, kWakeFd));
  REQUIRE(clock.Now() - start == 300ms);
  REQUIRE(transport.in_flight() == 1);
  REQUIRE_FALSE(transport.Poll(100ms, kWakeFd));
}

TEST_CASE("a request that nobody wrote a scene for fails loudly", "[http][fake]") {
  ManualClock clock;
  FakeTransport transport(clock);
  REQUIRE_THROWS_AS(transport.Submit(To("http://a/")), std::logic_error);
}
