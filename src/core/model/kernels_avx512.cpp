// The kernels for x86-64 with AVX-512: servers since 2017 (Intel) or 2022 (AMD). Its foundation is
// all that is used.
//
// INVARIANT: as in kernels_avx2.cpp, nothing between the pragmas may use an inline function of a
// header.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "core/model/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx2,fma,f16c")
#endif

namespace ai::model {
namespace {

constexpr std::size_t kLanes = 16;
/// 24 sums, and each input that is loaded and spread serves two of them: with one panel, which is
/// one register, loading would take as long as computing.
constexpr std::size_t kTileRows = 12;
constexpr std::size_t kTilePanels = 2;
/// Some processors widen with the units that multiply, so that is worth doing once for several
/// tiles.
constexpr std::size_t kWidenRows = 3 * kTileRows;

#include "core/model/kernel_vectors.inc"

Floats MultiplyAdd(Floats a, Floats b, Floats sum) {
  return _mm512_fmadd_ps(a, b, sum);
}

/// With a mask that takes all: for the form without one, GCC 12 warns of what its own header does.
Floats LoadHalves(const std::uint16_t* from) {
  return _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

#include "core/model/kernel_math.inc"
// Uses the ones above.
#include "core/model/kernel_bodies.inc"

}  // namespace

const Kernels kAvx512Kernels = {"avx512", 4e7, 72, 12, Multiply, Attend, Normalize, AddHalves};
const Kernels kAmxKernels = {"amx", 1e8, 128, 16, MultiplyByTiles, Attend, Normalize, AddHalves};

}  // namespace ai::model

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
