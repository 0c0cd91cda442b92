// Whether an endpoint may be asked: breaker, pauses, limits together.
#include "core/policy/endpoint_state.hpp"
#include "core/policy/histogram.hpp"
#include "unit/catch_bridge.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::policy::Admission;
using ai::policy::BreakerRules;
using ai::policy::BreakerState;
using ai::policy::EndpointLimits;
using ai::policy::EndpointState;
using ai::policy::kSecond;
using ai::policy::Micros;
using ai::policy::Obstacle;

namespace {

constexpr Micros kStart = 1000 * kSecond;
constexpr BreakerRules kRules{.failures = 3, .pause = 300 * kSecond};
constexpr Micros kFirstProbe = 5 * kSecond;
constexpr int kProcess = 7;

Failure Of(FailureClass failure_class, int status = 0) {
  return {.failure_class = failure_class, .message = "it failed", .http_status = status};
}

/// Sends a request, which fails.
void Fail(EndpointState& state, const Failure& failure, Micros now = kStart) {
  const auto admission = state.Admit(kProcess, kRules, now);
  REQUIRE(admission);
  state.Failed(*admission, failure, 0, kRules, now);
}

void Trip(EndpointState& state, Micros now = kStart) {
  for (int i = 0; i < kRules.failures; ++i) {
    Fail(state, Of(FailureClass::kTransient), now);
  }
}

Obstacle At(const EndpointState& state, Micros now) {
  return state.Check(kRules, now).obstacle;
}

}  // namespace

TEST_CASE("a breaker opens when too many requests in a row have failed", "[policy]") {
  EndpointState state;
  Fail(state, Of(FailureClass::kTransient));
  Fail(state, Of(FailureClass::kInvalidReply));
  CHECK(At(state, kStart) == Obstacle::kNone);
  SECTION("a success begins anew") {
    state.Succeeded(*state.Admit(kProcess, kRules, kStart));
    Fail(state, Of(FailureClass::kTransient));
    CHECK(At(state, kStart) == Obstacle::kNone);
  }
  SECTION("so does an answer about the text") {
    Fail(state, Of(FailureClass::kSuspect, 400));
    Fail(state, Of(FailureClass::kTransient));
    CHECK(At(state, kStart) == Obstacle::kNone);
  }
  SECTION("so does one about the model") {
    Fail(state, Of(FailureClass::kConfiguration, 404));
    CHECK(state.breaker.failures == 0);
  }
  SECTION("one more opens it") {
    Fail(state, Of(FailureClass::kTransient));
    CHECK(At(state, kStart) == Obstacle::kOpen);
    CHECK(state.Check(kRules, kStart).wait == kFirstProbe);
    CHECK_FALSE(state.Admit(kProcess, kRules, kStart));
    CHECK(state.breaker.failures == 3);
  }
}

TEST_CASE("a half-open breaker lets exactly one request through", "[policy]") {
  EndpointState state;
  Trip(state);
  const Micros later = kStart + kFirstProbe;
  CHECK(state.breaker.State(kRules, later - 1) == BreakerState::kOpen);
  CHECK(state.breaker.State(kRules, later) == BreakerState::kHalfOpen);
  CHECK(state.RequestsWithin(kSecond, kRules, later) == 1);
  const auto probe = state.Admit(kProcess, kRules, later);
  REQUIRE(probe);
  CHECK(probe->probe);
  CHECK(At(state, later) == Obstacle::kProbing);
  CHECK_FALSE(state.Admit(kProcess + 1, kRules, later));
  SECTION("that succeeds") {
    state.Succeeded(*probe);
    CHECK(state.breaker.State(kRules, later) == BreakerState::kClosed);
    CHECK_FALSE(state.Admit(kProcess, kRules, later)->probe);
    CHECK(state.Admit(kProcess, kRules, later));
  }
  SECTION("that fails") {
    state.Failed(*probe, Of(FailureClass::kTransient), 0, kRules, later);
    CHECK(state.Check(kRules, later).wait == 2 * kFirstProbe);
    CHECK(state.breaker.failures == 4);
    const BreakerRules shorter{.failures = 3, .pause = kSecond};
    CHECK(state.Check(shorter, later).wait == kSecond);
  }
  SECTION("that is given up") {
    state.Cancelled(*probe, later);
    CHECK(state.Admit(kProcess + 1, kRules, later)->probe);
  }
  SECTION("that is asked to come later") {
    Failure deferred = Of(FailureClass::kDeferred, 429);
    deferred.retry_after = std::chrono::seconds(2);
    state.Failed(*probe, deferred, 0, kRules, later);
    CHECK(At(state, later) == Obstacle::kCooling);
    CHECK(state.Admit(kProcess, kRules, later + 2 * kSecond)->probe);
  }
  SECTION("one that was sent before it opened and fails now says nothing") {
    state.Failed(Admission{}, Of(FailureClass::kTransient), 0, kRules, later);
    CHECK(At(state, later) == Obstacle::kProbing);
  }
  SECTION("one that was sent before and succeeds closes it") {
    state.Succeeded(Admission{});
    CHECK(state.breaker.State(kRules, later) == BreakerState::kClosed);
    state.Failed(*probe, Of(FailureClass::kTransient), 0, kRules, later);
    CHECK(state.breaker.State(kRules, later) == BreakerState::kClosed);
  }
}

TEST_CASE("an open breaker is probed after five seconds, then after twice as long", "[policy]") {
  EndpointState state;
  Trip(state);
  Micros now = kStart;
  const auto probe = [&](const BreakerRules& rules) {
    now += state.Check(rules, now).wait;
    const auto admission = state.Admit(kProcess, rules, now);
    REQUIRE(admission);
    REQUIRE(admission->probe);
    return *admission;
  };
  const auto fail = [&](const BreakerRules& rules, const Failure& failure) {
    const Admission admission = probe(rules);
    state.Failed(admission, failure, 0, rules, now);
    return state.Check(rules, now).wait;
  };
  const Failure transient = Of(FailureClass::kTransient);
  CHECK(state.Check(kRules, now).wait == 5 * kSecond);
  SECTION("the pause at most") {
    for (const int seconds : {10, 20, 40, 80, 160, 300, 300}) {
      CHECK(fail(kRules, transient) == seconds * kSecond);
    }
    SECTION("another pause holds at once") {
      CHECK(state.Check({.pause = 60 * kSecond}, now).wait == 60 * kSecond);
      CHECK(fail({.pause = 60 * kSecond}, transient) == 60 * kSecond);
    }
    SECTION("and a success begins anew") {
      state.Succeeded(probe(kRules));
      Trip(state, now);
      CHECK(state.Check(kRules, now).wait == 5 * kSecond);
    }
  }
  SECTION("always the pause if that is shorter") {
    const BreakerRules hasty{.failures = 3, .pause = kSecond / 2};
    CHECK(state.Check(hasty, now).wait == kSecond / 2);
    for (int i = 0; i < 3; ++i) {
      CHECK(fail(hasty, transient) == kSecond / 2);
    }
  }
  SECTION("a probe without an outcome changes nothing") {
    const Admission admission = probe(kRules);
    state.Cancelled(admission, now);
    CHECK(fail(kRules, transient) == 10 * kSecond);
  }
  SECTION("the whole pause if the probe finds that only a hand can mend it, whatever comes then") {
    CHECK(fail(kRules, Of(FailureClass::kConfiguration, 401)) == kRules.pause);
    CHECK(fail(kRules, transient) == kRules.pause);
  }
}

TEST_CASE("a refused key opens a breaker at once, a refused model does not", "[policy]") {
  EndpointState state;
  SECTION("key") {
    Fail(state, Of(FailureClass::kConfiguration, 401));
    CHECK(At(state, kStart) == Obstacle::kOpen);
    CHECK(state.Check(kRules, kStart).wait == kRules.pause);
    SECTION("until a hand says that all is well") {
      state.Reset();
      CHECK(At(state, kStart) == Obstacle::kNone);
    }
  }
  SECTION("no way there") {
    Fail(state, Of(FailureClass::kConfiguration));
    CHECK(At(state, kStart) == Obstacle::kOpen);
  }
  SECTION("model") {
    Fail(state, Of(FailureClass::kConfiguration, 404));
    CHECK(At(state, kStart) == Obstacle::kNone);
  }
  SECTION("no access to the model") {
    Failure failure = Of(FailureClass::kConfiguration, 403);
    failure.provider_code = "model_not_found";
    Fail(state, failure);
    CHECK(At(state, kStart) == Obstacle::kNone);
  }
}

TEST_CASE("a provider that asks for a pause gets it, and nothing is held against it", "[policy]") {
  EndpointState state;
  Failure later = Of(FailureClass::kDeferred, 429);
  SECTION("as long as it says") {
    later.retry_after = std::chrono::seconds(7);
    Fail(state, later);
    CHECK(state.Check(kRules, kStart).wait == 7 * kSecond);
    CHECK(At(state, kStart + 7 * kSecond) == Obstacle::kNone);
    CHECK(state.breaker.failures == 0);
  }
  SECTION("or longer each time") {
    Micros now = kStart;
    const auto wait = [&] {
      while (state.Check(kRules, now).wait > 0) {
        now += state.Check(kRules, now).wait;
      }
    };
    for (const int seconds : {1, 2, 4, 8, 16, 32, 64, 64}) {
      wait();
      Fail(state, later, now);
      CHECK(state.Check(kRules, now).wait == seconds * kSecond);
    }
    wait();
    state.Succeeded(*state.Admit(kProcess, kRules, now));
    wait();
    Fail(state, later, now);
    CHECK(state.Check(kRules, now).wait == kSecond);
  }
}

TEST_CASE("limits hold for requests and for tokens", "[policy]") {
  EndpointState state;
  state.SetLimits({.requests_per_minute = 60, .tokens_per_minute = 60'000}, kStart);
  auto admission = state.Admit(kProcess, kRules, kStart);
  REQUIRE(admission);
  CHECK(At(state, kStart) == Obstacle::kRate);
  CHECK(state.Check(kRules, kStart).wait < kSecond);
  CHECK(state.RequestsWithin(2 * kSecond, kRules, kStart) < 2);
  state.Charge(*admission, 30'000, kStart);
  CHECK(state.Check(kRules, kStart).wait > 29 * kSecond);
  SECTION("the provider's count is the one that counts") {
    state.Charge(*admission, 3'000, kStart);
    CHECK(state.Check(kRules, kStart).wait < 3 * kSecond);
  }
  SECTION("other limits begin anew") {
    state.SetLimits({.requests_per_minute = 600}, kStart);
    CHECK(At(state, kStart) == Obstacle::kNone);
    CHECK(state.RequestsWithin(kSecond, kRules, kStart) > 9);
  }
  SECTION("the same limits do not") {
    state.SetLimits({.requests_per_minute = 60, .tokens_per_minute = 60'000}, kStart);
    CHECK(At(state, kStart) == Obstacle::kRate);
  }
}

TEST_CASE("a request that did not go is not counted", "[policy]") {
  EndpointState state;
  state.SetLimits({.requests_per_minute = 60}, kStart);
  const auto admission = state.Admit(kProcess, kRules, kStart);
  REQUIRE(admission);
  CHECK_FALSE(state.Admit(kProcess, kRules, kStart));
  state.Cancelled(*admission, kStart);
  CHECK(state.Admit(kProcess, kRules, kStart));
}

TEST_CASE("of two limits the stricter one holds", "[policy]") {
  using ai::policy::Strictest;
  CHECK(Strictest({}, {}) == EndpointLimits{});
  CHECK(Strictest({10, 0}, {}) == EndpointLimits{10, 0});
  CHECK(Strictest({10, 7}, {20, 5}) == EndpointLimits{10, 5});
}

TEST_CASE("a histogram counts by bounds", "[policy]") {
  ai::policy::LatencyHistogram histogram;
  histogram.Add(0);
  histogram.Add(0.005);
  histogram.Add(0.0051);
  histogram.Add(1000);
  CHECK(histogram.counts[0] == 2);
  CHECK(histogram.counts[1] == 1);
  CHECK(histogram.counts.back() == 1);
  CHECK(histogram.sum > 1000);
}
