// The kernels for any processor: 128-bit vectors, which every x86-64 (SSE2) and every arm64 (NEON)
// has and the compiler takes apart elsewhere.
#include <cstdint>
#include <cstring>

#include "core/model/kernels.hpp"

namespace ai::model {
namespace {

constexpr std::size_t kLanes = 4;
#if defined(__aarch64__)
constexpr std::size_t kTileRows = 6;
#else
constexpr std::size_t kTileRows = 3;
#endif
constexpr std::size_t kTilePanels = 1;
/// Always: taking 16-bit floats apart by hand is slow.
constexpr std::size_t kWidenRows = 1;

#include "core/model/kernel_vectors.inc"

Floats MultiplyAdd(Floats a, Floats b, Floats sum) {
  return a * b + sum;
}

/// Exact for every finite number: the exponent is corrected by a multiplication, which takes care
/// of subnormal ones too.
Floats LoadHalves(const std::uint16_t* from) {
  Integers bits = {};
  for (std::size_t i = 0; i < kLanes; ++i) {
    bits[i] = from[i];
  }
  const Floats magnitude = reinterpret_cast<Floats>((bits & 0x7FFF) << 13) * 0x1p112F;
  return reinterpret_cast<Floats>(reinterpret_cast<Integers>(magnitude) | ((bits & 0x8000) << 16));
}

#include "core/model/kernel_math.inc"
// Uses the ones above.
#include "core/model/kernel_bodies.inc"

}  // namespace

const Kernels kPlainKernels = {"plain", 5e6, 72, 12, Multiply, Attend, Normalize, AddHalves};

}  // namespace ai::model
