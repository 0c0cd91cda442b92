#include "core/policy/restart_delay.hpp"

#include <algorithm>

namespace ai::policy {

namespace {
constexpr std::chrono::seconds kLeast{1};
constexpr std::chrono::seconds kMax{60};
constexpr std::chrono::seconds kHealthyLife{60};
}  // namespace

void RestartDelay::Failed(SteadyTime now) {
  const bool was_healthy = now - started_ >= kHealthyLife;
  delay_ = was_healthy || delay_ < kLeast ? kLeast : std::min(delay_ * 2, kMax);
  not_before_ = now + delay_;
}

void RestartDelay::ExitedCleanly() {
  delay_ = std::chrono::seconds(0);
  not_before_ = started_ + kLeast;
}

}  // namespace ai::policy
