// How long to wait before the next try: twice as long each time, up to a limit, and never exactly
// as long as others who failed at the same moment.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/random.hpp"

namespace ai::policy {

struct Backoff {
  std::chrono::milliseconds first;
  std::chrono::milliseconds most;

  /// Before try number `failures`, counted from 1; between three quarters and five quarters of it.
  std::chrono::milliseconds After(int failures, Random& random) const {
    const int doublings = std::clamp(failures - 1, 0, 30);
    const double nominal =
        std::min(static_cast<double>(first.count()) * static_cast<double>(1LL << doublings),
                 static_cast<double>(most.count()));
    return std::chrono::milliseconds(
        static_cast<std::chrono::milliseconds::rep>(nominal * random.Between(0.75, 1.25)));
  }
};

}  // namespace ai::policy
