// random.hpp: the one generator of this program (SplitMix64): seeded, repeatable, not secret.
#pragma once

#include <cstdint>

namespace ai::mock {

inline constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += kGoldenGamma;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  /// A number in [0, 1).
  double NextShare() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

/// The n-th number in [0, 1) of the sequence of a seed, without its state: threads may ask for
/// different n at the same time.
inline double ShareAt(uint64_t seed, uint64_t n) {
  return SplitMix(seed + n * kGoldenGamma).NextShare();
}

}  // namespace ai::mock
