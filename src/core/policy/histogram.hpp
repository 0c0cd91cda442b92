// A histogram with fixed bucket bounds. Plain data: it lives in shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ai::policy {

template <const auto& Bounds>
struct Histogram {
  std::array<std::uint64_t, std::size(Bounds) + 1> counts = {};  // the last one: above all bounds
  double sum = 0;

  void Add(double value) {
    std::size_t at = 0;
    while (at < std::size(Bounds) && value > Bounds[at]) {
      ++at;
    }
    ++counts[at];
    sum += value;
  }
};

/// Seconds from request to reply.
inline constexpr std::array kLatencyBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
                                              1.0,   2.5,  5.0,   10.0, 30.0, 60.0};
using LatencyHistogram = Histogram<kLatencyBounds>;

/// Seconds from the commit of a change to its vectors.
inline constexpr std::array kLagBounds = {0.01, 0.025, 0.05, 0.1,  0.25,  0.5,   1.0,   2.5,
                                          5.0,  10.0,  30.0, 60.0, 300.0, 900.0, 3600.0};
using LagHistogram = Histogram<kLagBounds>;

}  // namespace ai::policy
