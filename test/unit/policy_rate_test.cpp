// Rates that are kept, and rates that are found out.
#include <cmath>
#include <deque>

#include "core/policy/endpoint_state.hpp"
#include "unit/catch_bridge.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::policy::Admission;
using ai::policy::EndpointState;
using ai::policy::kSecond;
using ai::policy::Micros;
using ai::policy::Pace;
using ai::policy::Rate;
using ai::policy::RateBucket;
using ai::provider::RateLimits;
using std::chrono::milliseconds;

namespace {

constexpr Micros kStart = 1000 * kSecond;

/// A provider with a token bucket, as all of them have, and as many requests on the way to it as
/// two workers have.
struct Provider {
  double per_second;
  double burst;
  Micros latency;
  bool says_limits;

  struct Reply {
    Micros at;
    Admission admission;
    bool accepted;
    RateLimits limits;
  };

  double level = burst;
  Micros filled = kStart;
  std::deque<Reply> replies = {};
  int refused = 0;

  RateLimits Limits() const {
    if (!says_limits) {
      return {};
    }
    return {.limit_requests = static_cast<std::int64_t>(per_second * 60),
            .limit_tokens = std::nullopt,
            .remaining_requests = static_cast<std::int64_t>(level),
            .remaining_tokens = std::nullopt,
            .reset_requests =
                milliseconds(static_cast<int>(std::ceil((burst - level) / per_second * 1000))),
            .reset_tokens = std::nullopt};
  }

  void Ask(const Admission& admission, Micros now) {
    level = std::min(burst, level + per_second * static_cast<double>(now - filled) / kSecond);
    filled = now;
    const bool accepted = level >= 1;
    level -= accepted ? 1 : 0;
    refused += accepted ? 0 : 1;
    replies.push_back({now + latency, admission, accepted, Limits()});
  }
};

int Receive(Provider& provider, EndpointState& state, Micros now) {
  int accepted = 0;
  while (!provider.replies.empty() && provider.replies.front().at <= now) {
    const Provider::Reply reply = provider.replies.front();
    provider.replies.pop_front();
    state.pace.ApplyAdvertised(reply.limits);
    if (reply.accepted) {
      ++accepted;
      state.Succeeded(reply.admission);
    } else {
      const Failure failure{.failure_class = FailureClass::kDeferred,
                            .retry_after = std::chrono::seconds(1)};
      state.Failed(reply.admission, failure, 0, {}, now);
    }
  }
  return accepted;
}

/// How long it takes to get so many requests accepted, in terms of the least that is possible.
double Ratio(Provider& provider, int requests) {
  constexpr std::size_t kMaxInFlight = 32;
  EndpointState state;
  Micros now = kStart;
  for (int accepted = 0; accepted < requests; now += kSecond / 1000) {
    accepted += Receive(provider, state, now);
    while (provider.replies.size() < kMaxInFlight &&
           accepted + static_cast<int>(provider.replies.size()) < requests) {
      const auto admission = state.Admit(1, {}, now);
      if (!admission) {
        break;
      }
      provider.Ask(*admission, now);
    }
  }
  return static_cast<double>(now - kStart) / kSecond * provider.per_second /
         (requests - provider.burst);
}

}  // namespace

TEST_CASE("a limit is kept in any minute, and smoothly", "[policy]") {
  for (const int limit : {1, 7, 60, 600, 6000}) {
    const Rate rate = Rate::PerMinute(limit);
    RateBucket bucket;
    std::deque<Micros> sent;
    int most_in_minute = 0;
    int all = 0;
    for (Micros now = kStart; now < kStart + 300 * kSecond; now += kSecond / 1000) {
      while (bucket.Wait(rate, now) == 0) {
        bucket.Take(rate, 1, now);
        sent.push_back(now);
        ++all;
      }
      while (!sent.empty() && sent.front() <= now - 60 * kSecond) {
        sent.pop_front();
      }
      most_in_minute = std::max(most_in_minute, static_cast<int>(sent.size()));
    }
    INFO(limit << " per minute");
    CHECK(most_in_minute <= limit);
    CHECK(all >= 4.9 * limit);
  }
}

TEST_CASE("after a long rest there is no more than half a second's worth at once", "[policy]") {
  const Rate rate = Rate::PerMinute(600);
  RateBucket bucket;
  int at_once = 0;
  while (bucket.Wait(rate, kStart) == 0) {
    bucket.Take(rate, 1, kStart);
    ++at_once;
  }
  CHECK(at_once <= 6);
  CHECK(bucket.Wait(rate, kStart) <= kSecond / 9);
}

TEST_CASE("what is worth much makes the next one wait", "[policy]") {
  const Rate rate = Rate::PerMinute(60'000);
  RateBucket bucket;
  bucket.Take(rate, 10'000, kStart);
  CHECK(bucket.Wait(rate, kStart) > 9 * kSecond);
  bucket.Return(rate, 9'000);
  CHECK(bucket.Wait(rate, kStart) < 2 * kSecond);
  bucket.Take(rate, 1e300, kStart);
  CHECK(bucket.Wait(rate, kStart) > 0);
  bucket.Forgive(kStart);
  CHECK(bucket.Wait(rate, kStart) == 0);
  CHECK(bucket.Wait(Rate{}, kStart) == 0);
}

TEST_CASE("the limit of a provider that says nothing of it is found out", "[policy]") {
  for (const double per_second : {0.5, 10.0, 100.0}) {
    for (const double seconds_of_burst : {1.0, 10.0, 60.0}) {
      for (const int latency : {5, 100}) {
        Provider provider{per_second, std::max(1.0, per_second * seconds_of_burst),
                          latency * kSecond / 1000, false};
        const int requests =
            static_cast<int>(provider.burst + per_second * (per_second < 1 ? 600 : 100));
        INFO(per_second << " per second, burst " << provider.burst << ", latency " << latency);
        CHECK(Ratio(provider, requests) < 1.1);
        CHECK(provider.refused < 250);
      }
    }
  }
}

TEST_CASE("the limit of a provider that says it is believed", "[policy]") {
  for (const double per_second : {10.0, 100.0}) {
    for (const double seconds_of_burst : {1.0, 60.0}) {
      Provider provider{per_second, per_second * seconds_of_burst, kSecond / 100, true};
      const int requests = static_cast<int>(provider.burst + per_second * 100);
      INFO(per_second << " per second, burst " << provider.burst);
      CHECK(Ratio(provider, requests) < 1.1);
      CHECK(provider.refused < 32);
    }
  }
}

TEST_CASE("without a refusal there is no pace", "[policy]") {
  Pace pace;
  CHECK(pace.PerSecond(kStart) == 0);
  pace.ApplyAdvertised({.limit_requests = 600, .remaining_requests = 500});
  CHECK(pace.PerSecond(kStart) == 0);
  pace.ApplyAdvertised({.limit_requests = 600, .remaining_requests = 5});
  CHECK(pace.PerSecond(kStart) > 9.8);
  CHECK(pace.PerSecond(kStart) < 10);
  SECTION("and a limit that was raised is followed") {
    pace.ApplyAdvertised({.limit_requests = 6000, .remaining_requests = 5999});
    CHECK(pace.PerSecond(kStart) > 98);
  }
}

TEST_CASE("a limit by day is known by how long it takes to be there again", "[policy]") {
  Pace pace;
  pace.ApplyAdvertised({.limit_requests = 200,
                        .limit_tokens = std::nullopt,
                        .remaining_requests = 0,
                        .remaining_tokens = std::nullopt,
                        .reset_requests = std::chrono::hours(24)});
  CHECK(pace.PerSecond(kStart) < 200.0 / 86'000);
}

TEST_CASE("refusals that come together count once", "[policy]") {
  Pace pace;
  for (int i = 0; i < 100; ++i) {
    pace.Sent(kStart + i * kSecond / 10, 0);
    pace.Accepted(kStart + i * kSecond / 10);
  }
  const Micros sent_at = kStart + 10 * kSecond;
  CHECK(pace.Refused(sent_at, 0, sent_at + 1000));
  const double found = pace.PerSecond(sent_at + 1000);
  CHECK(found > 9);
  CHECK(found < 11);
  CHECK_FALSE(pace.Refused(sent_at, 0, sent_at + 2000));
  CHECK(std::abs(pace.PerSecond(sent_at + 1000) - found) < 1e-9);
}
