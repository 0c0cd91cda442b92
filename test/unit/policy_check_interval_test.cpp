#include "core/policy/check_interval.hpp"

#include "unit/catch_bridge.hpp"

using ai::policy::CheckInterval;
using namespace std::chrono_literals;

TEST_CASE("looks take a two thousandth of the time, within bounds", "[look]") {
  CHECK(CheckInterval(0ns, 5s, 1min) == 5s);
  CHECK(CheckInterval(1ms, 5s, 1min) == 5s);
  CHECK(CheckInterval(10ms, 5s, 1min) == 20s);
  CHECK(CheckInterval(1ns, 0ms, 1min) == 1ms);
  CHECK(CheckInterval(1h, 5s, 1min) == 1min);
  CHECK(CheckInterval(1h, 2min, 1min) == 2min);
}
