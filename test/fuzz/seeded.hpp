// Inputs for fuzz entries from a seed: the same ones in every run, with no help from a compiler.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace ai::fuzz {

class SeededInputs {
 public:
  explicit SeededInputs(std::uint64_t seed) : random_(seed) {}

  /// Mostly short, because small inputs find the same faults sooner.
  std::string Next() {
    const std::size_t longest = Below(8) == 0 ? 1500 : (Below(4) == 0 ? 300 : 80);
    std::string bytes(Below(longest + 1), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(Below(256));
    }
    return bytes;
  }

 private:
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::mt19937_64 random_;
};

}  // namespace ai::fuzz
