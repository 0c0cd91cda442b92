// How often to run a check that rarely finds anything.
#pragma once

#include <algorithm>
#include <chrono>

namespace ai::policy {

/// The time until the next check, after one that took so long, such that checks take at most 1/2000
/// of the time.
inline std::chrono::milliseconds CheckInterval(std::chrono::nanoseconds taken,
                                               std::chrono::milliseconds least,
                                               std::chrono::milliseconds most) {
  constexpr int kFactor = 2000;
  return std::max(least,
                  std::min(std::chrono::ceil<std::chrono::milliseconds>(kFactor * taken), most));
}

}  // namespace ai::policy
