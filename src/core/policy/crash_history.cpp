#include "core/policy/crash_history.hpp"

#include <algorithm>

namespace ai::policy {

void CrashHistory::Trim(WallTime now, std::chrono::milliseconds window) {
  std::erase_if(times_, [&](WallTime when) { return when > now || now - when >= window; });
}

std::chrono::seconds CrashHistory::Pause() const {
  constexpr std::chrono::seconds kMax{60};
  constexpr std::size_t kDoublings = 6;
  if (times_.size() < 2) {
    return std::chrono::seconds(0);
  }
  const std::size_t doublings = std::min(times_.size() - 2, kDoublings);
  return std::min(std::chrono::seconds(1LL << doublings), kMax);
}

}  // namespace ai::policy
