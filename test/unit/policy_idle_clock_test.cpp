#include "core/policy/idle_clock.hpp"

#include "unit/catch_bridge.hpp"

using ai::SteadyTime;
using ai::policy::IdleClock;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {
const SteadyTime kStart{seconds(1000)};
}

TEST_CASE("idle is who has done nothing for the time that is set", "[idle]") {
  IdleClock clock;
  clock.SetTimeout(seconds(60), false);
  clock.Active(kStart);
  CHECK_FALSE(clock.IsIdle(kStart + seconds(59)));
  CHECK(clock.IsIdle(kStart + seconds(60)));
  CHECK(*clock.NextCheck() == kStart + seconds(60));
  clock.Active(kStart + seconds(60));
  CHECK_FALSE(clock.IsIdle(kStart + seconds(119)));
}

TEST_CASE("one that has never done anything is idle", "[idle]") {
  IdleClock clock;
  clock.SetTimeout(seconds(60), false);
  CHECK(clock.IsIdle(kStart));
}

TEST_CASE("a moment is enough when others wait", "[idle]") {
  IdleClock clock;
  clock.SetTimeout(seconds(60), true);
  clock.Active(kStart);
  CHECK_FALSE(clock.IsIdle(kStart + IdleClock::kMoment - milliseconds(1)));
  CHECK(clock.IsIdle(kStart + IdleClock::kMoment));
  CHECK(clock.MayIdle(kStart, kStart + seconds(1)));
}

TEST_CASE("a moment is the least", "[idle]") {
  IdleClock clock;
  clock.SetTimeout(milliseconds(0), false);
  clock.Active(kStart);
  CHECK_FALSE(clock.IsIdle(kStart));
  CHECK(clock.IsIdle(kStart + IdleClock::kMoment));
  CHECK_FALSE(clock.MayIdle(kStart, kStart + IdleClock::kMoment));
}

TEST_CASE("what falls due soon is waited for", "[idle]") {
  IdleClock clock;
  clock.SetTimeout(seconds(60), false);
  CHECK(clock.MayIdle(kStart, std::nullopt));
  CHECK_FALSE(clock.MayIdle(kStart, kStart));
  CHECK_FALSE(clock.MayIdle(kStart, kStart + seconds(60)));
  CHECK(clock.MayIdle(kStart, kStart + seconds(61)));
}

TEST_CASE("without a time there is no rest, whoever waits", "[idle]") {
  IdleClock clock;
  for (const bool others_wait : {false, true}) {
    clock.SetTimeout(milliseconds(-1), others_wait);
    CHECK_FALSE(clock.IsIdle(kStart));
    CHECK_FALSE(clock.MayIdle(kStart, std::nullopt));
    CHECK_FALSE(clock.NextCheck());
  }
}
