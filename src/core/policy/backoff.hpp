// Exponential back-off with jitter: the delay doubles with each failure, up to a limit, and varies
// so that failures of the same moment are not retried at the same moment.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/random.hpp"

namespace ai::policy {

struct Backoff {
  std::chrono::milliseconds first;
  std::chrono::milliseconds most;

  /// The delay after so many failures, from 1; between three and five quarters of the nominal
  /// value.
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
