// How often to look for what is rarely there.
#pragma once

#include <algorithm>
#include <chrono>

namespace ai::policy {

/// The time until the next look, after one that has taken so long: so that looks take no more than
/// a two thousandth of the time, however much there is to look at.
inline std::chrono::milliseconds CheckInterval(std::chrono::nanoseconds taken,
                                               std::chrono::milliseconds least,
                                               std::chrono::milliseconds most) {
  constexpr int kRest = 2000;
  return std::max(least,
                  std::min(std::chrono::ceil<std::chrono::milliseconds>(kRest * taken), most));
}

}  // namespace ai::policy
