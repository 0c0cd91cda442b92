// Randomness as a parameter: jitter and choices are reproducible in tests. Not for cryptography.
#pragma once

#include <cstdint>
#include <random>

namespace ai {

class Random {
 public:
  Random() = default;
  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;
  virtual ~Random() = default;

  /// Uniform in [0, 1).
  virtual double Uniform() = 0;

  /// Uniform in [low, high).
  double Between(double low, double high) { return low + (high - low) * Uniform(); }

  /// Uniform in 0, ..., bound - 1; bound must be positive.
  std::uint32_t Below(std::uint32_t bound);
};

/// Seeded from the system. INVARIANT: constructed in the process that uses it, because two
/// processes that share a state by fork() would retry in step.
class SystemRandom final : public Random {
 public:
  SystemRandom();
  double Uniform() override;

 private:
  std::mt19937_64 engine_;
};

}  // namespace ai
