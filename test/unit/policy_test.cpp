// What follows from failures, and what tells texts apart: gates, pauses, hashes.
#include "core/policy/backoff.hpp"
#include "core/policy/content_hash.hpp"
#include "core/policy/endpoint_gate.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/fake_random.hpp"
#include "unit/fakes/manual_clock.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::policy::Backoff;
using ai::policy::ContentHasher;
using ai::policy::EndpointGate;
using ai::test::ManualClock;
using ai::test::ScriptedRandom;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

Failure Of(FailureClass failure_class) {
  return {.failure_class = failure_class, .message = "it failed"};
}

}  // namespace

TEST_CASE("a gate is open until too many requests in a row have failed", "[policy]") {
  const ManualClock clock;
  EndpointGate gate(clock, {.failures = 3, .broken_for = minutes(5)});
  gate.Failed(Of(FailureClass::kTransient));
  gate.Failed(Of(FailureClass::kInvalidReply));
  CHECK_FALSE(gate.Closed());
  SECTION("a success begins anew") {
    gate.Succeeded();
    gate.Failed(Of(FailureClass::kTransient));
    CHECK_FALSE(gate.Closed());
  }
  SECTION("so does an answer about the text") {
    gate.Failed(Of(FailureClass::kSuspect));
    gate.Failed(Of(FailureClass::kTransient));
    CHECK_FALSE(gate.Closed());
  }
  SECTION("one more closes it") {
    gate.Failed(Of(FailureClass::kTransient));
    CHECK(gate.Closed() > minutes(4));
  }
}

TEST_CASE("a broken gate lets one request through when its time is over", "[policy]") {
  ManualClock clock;
  EndpointGate gate(clock, {.failures = 1, .broken_for = minutes(5)});
  gate.Failed(Of(FailureClass::kTransient));
  clock.Advance(minutes(5));
  CHECK_FALSE(gate.Closed());
  gate.Sent();
  CHECK(gate.Closed());
  SECTION("that succeeds") {
    gate.Succeeded();
    CHECK_FALSE(gate.Closed());
    gate.Sent();
    CHECK_FALSE(gate.Closed());
  }
  SECTION("that fails") {
    gate.Failed(Of(FailureClass::kTransient));
    CHECK(gate.Closed() > minutes(4));
  }
  SECTION("that is given up") {
    gate.Cancelled();
    CHECK_FALSE(gate.Closed());
  }
}

TEST_CASE("a provider that asks for a pause gets it, and nothing is held against it", "[policy]") {
  ManualClock clock;
  EndpointGate gate(clock, {.failures = 1, .broken_for = minutes(5)});
  Failure later = Of(FailureClass::kDeferred);
  later.retry_after = seconds(7);
  gate.Failed(later);
  CHECK(gate.Closed() > seconds(6));
  clock.Advance(seconds(7));
  CHECK_FALSE(gate.Closed());
  gate.Sent();
  CHECK_FALSE(gate.Closed());
}

TEST_CASE("a refused key closes a gate at once", "[policy]") {
  const ManualClock clock;
  EndpointGate gate(clock, {.failures = 5, .broken_for = minutes(5)});
  gate.Failed(Of(FailureClass::kConfiguration));
  CHECK(gate.Closed() > minutes(4));
}

TEST_CASE("pauses double up to a limit, each a little different", "[policy]") {
  const Backoff backoff{seconds(1), seconds(10)};
  ScriptedRandom middle({0.5, 0.5, 0.5, 0.5, 0.5});
  CHECK(backoff.After(1, middle) == seconds(1));
  CHECK(backoff.After(2, middle) == seconds(2));
  CHECK(backoff.After(4, middle) == seconds(8));
  CHECK(backoff.After(5, middle) == seconds(10));
  CHECK(backoff.After(1000, middle) == seconds(10));
  ScriptedRandom lowest({0.0});
  CHECK(backoff.After(1, lowest) == milliseconds(750));
}

TEST_CASE("a hash depends on the text and on what makes its vector", "[policy]") {
  const ContentHasher hash("openai\nsmall\n8");
  CHECK(hash("a text") == ContentHasher("openai\nsmall\n8")("a text"));
  CHECK(hash("a text") != hash("another"));
  CHECK(hash("a text") != ContentHasher("openai\nsmall\n9")("a text"));
  CHECK(ContentHasher("ab")("c") != ContentHasher("a")("bc"));
  CHECK(hash("") != hash(std::string_view("\0", 1)));
}
