// See random.hpp.
#include "core/random.hpp"

#include "core/error.hpp"

namespace ai {
namespace {

std::mt19937_64 SeededEngine() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

}  // namespace

std::uint32_t Random::Below(std::uint32_t bound) {
  if (bound == 0) {
    throw Error(ErrorCode::kInternal, "bound of a random number must be positive");
  }
  // Exact enough: a bound of 32 bits leaves 21 bits of the double to spread the remainder over.
  return static_cast<std::uint32_t>(Uniform() * bound);
}

SystemRandom::SystemRandom() : engine_(SeededEngine()) {}

double SystemRandom::Uniform() {
  // The upper 53 bits: as many as a double holds, so 1 is never reached by rounding.
  return static_cast<double>(engine_() >> 11) * 0x1.0p-53;
}

}  // namespace ai
