// See clock.hpp.
#include "core/clock.hpp"

namespace ai {

SteadyTime SystemClock::Now() const {
  return std::chrono::steady_clock::now();
}

WallTime SystemClock::WallNow() const {
  return std::chrono::system_clock::now();
}

}  // namespace ai
