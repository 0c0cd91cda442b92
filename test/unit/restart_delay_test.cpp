#include "core/policy/restart_delay.hpp"

#include "unit/catch_bridge.hpp"

using ai::SteadyTime;
using ai::policy::RestartDelay;
using std::chrono::seconds;

namespace {
const SteadyTime kStart{seconds(1000)};
}

TEST_CASE("a process may be started at once", "[restart]") {
  CHECK(RestartDelay().NotBefore() <= kStart);
}

TEST_CASE("one that dies at once waits twice as long each time, a minute at most", "[restart]") {
  RestartDelay delay;
  for (const int expected : {1, 2, 4, 8, 16, 32, 60, 60}) {
    delay.Started(kStart);
    delay.Failed(kStart);
    CHECK(delay.NotBefore() == kStart + seconds(expected));
  }
}

TEST_CASE("a minute of life is healthy, less is not", "[restart]") {
  RestartDelay delay;
  delay.Started(kStart);
  delay.Failed(kStart);
  delay.Started(kStart);
  SECTION("less") {
    delay.Failed(kStart + seconds(59));
    CHECK(delay.NotBefore() == kStart + seconds(59 + 2));
  }
  SECTION("a minute") {
    delay.Failed(kStart + seconds(60));
    CHECK(delay.NotBefore() == kStart + seconds(60 + 1));
  }
}

TEST_CASE("one that was asked to end is started again at once, but not in a loop", "[restart]") {
  RestartDelay delay;
  delay.Started(kStart);
  delay.Failed(kStart + seconds(10));
  delay.ExitedCleanly();
  CHECK(delay.NotBefore() == kStart + seconds(1));
  delay.Started(kStart);
  delay.Failed(kStart);
  CHECK(delay.NotBefore() == kStart + seconds(1));
}
