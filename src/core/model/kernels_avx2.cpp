// The kernels for x86-64 with AVX2, FMA and F16C: every server since 2013 (Intel) or 2015 (AMD).
//
// INVARIANT: nothing between the pragmas may use an inline function of a header, because the linker
// could take this file's compilation of it for everybody.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "core/model/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

namespace ai::model {
namespace {

constexpr std::size_t kLanes = 8;
/// 6 x 2 sums, 2 weights and an input fill 15 of the 16 registers.
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTilePanels = 1;
/// Never: the processor widens while it loads.
constexpr std::size_t kWidenRows = ~std::size_t{0};

#include "core/model/kernel_vectors.inc"

Floats MultiplyAdd(Floats a, Floats b, Floats sum) {
  return _mm256_fmadd_ps(a, b, sum);
}

Floats LoadHalves(const std::uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

#include "core/model/kernel_math.inc"
// Uses the ones above.
#include "core/model/kernel_bodies.inc"

}  // namespace

const Kernels kAvx2Kernels = {"avx2", 4e7, 72, 12, Multiply, Attend, Normalize, AddHalves};

}  // namespace ai::model

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
