// Products by the matrix unit (AMX) of Intel's servers since 2023, several times as fast as by
// vectors. All else is computed as with AVX-512.
//
// The unit multiplies 16-bit floats of another kind (bfloat16, 8 bits of precision) and sums up in
// 32 bits. So each number is taken for the sum of two of these: weights exactly, inputs to 16 bits.
// Of the four products only that of the two lesser parts is left out.
//
// INVARIANT: as in kernels_avx2.cpp, nothing between the pragmas may use an inline function of a
// header. The intrinsics of tiles do not tell the compiler what they read: Settle() does.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "core/model/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16,avx512f,avx2,fma,f16c"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16,avx512f,avx2,fma,f16c")
#endif

namespace ai::model {
namespace {

constexpr std::size_t kLanes = 16;

#include "core/model/kernel_vectors.inc"

Floats MultiplyAdd(Floats a, Floats b, Floats sum) {
  return _mm512_fmadd_ps(a, b, sum);
}

Floats LoadHalves(const std::uint16_t* from) {
  return _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

#include "core/model/kernel_math.inc"

typedef std::uint32_t Words __attribute__((vector_size(64), aligned(4), may_alias));
using Brain = std::uint16_t;  // a bfloat16: the upper half of a float

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kTileInputs = 32;
constexpr std::size_t kTileSize = kTileRows * kTileInputs;
constexpr std::size_t kTileBytes = 64;           // of a row
constexpr std::size_t kWidth = 2 * kPanelWidth;  // outputs that are computed together
constexpr std::size_t kHeight = 2 * kTileRows;   // rows that are
constexpr std::size_t kFetchAhead = 2048;        // as in kernel_bodies.inc
constexpr std::uint32_t kUpper = 0xFFFF0000;
constexpr std::uint32_t kHalfOfLower = 0x8000;

/// Eight tiles of 16 rows: 0 to 3 are sums, 4 and 5 inputs, 6 and 7 weights.
struct TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfig kTileConfig;

/// What was written before is there for tiles to read, and what they wrote for others.
inline void Settle() {
  asm volatile("" ::: "memory");
}

/// A matrix in two parts, tile after tile.
struct Parts {
  Brain* high;
  Brain* low;
};

inline Words BitsOf(Floats value) {
  return reinterpret_cast<Words>(value);
}

/// The weights of a panel: those of two inputs in each word, as the unit wants them.
void SplitPanel(const std::uint16_t* panel, std::size_t inputs, const Parts& parts) {
  for (std::size_t k = 0; k < inputs; k += 2, panel += 2 * kPanelWidth) {
    __builtin_prefetch(panel + kFetchAhead);
    const Floats first = LoadHalves(panel);
    const Floats second = LoadHalves(panel + kPanelWidth);
    const Words first_high = BitsOf(first) & kUpper;
    const Words second_high = BitsOf(second) & kUpper;
    const Words first_low = BitsOf(first - reinterpret_cast<Floats>(first_high));
    const Words second_low = BitsOf(second - reinterpret_cast<Floats>(second_high));
    *reinterpret_cast<Words*>(parts.high + k * kPanelWidth) = first_high >> 16 | second_high;
    *reinterpret_cast<Words*>(parts.low + k * kPanelWidth) =
        first_low >> 16 | (second_low & kUpper);
  }
}

inline void StoreUpper(Words words, Brain* to) {
  const auto upper = reinterpret_cast<__m512i>(words >> 16);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi32_epi16(0xFFFF, upper));
}

/// The rows of a product, zero for rows beyond the last.
void SplitInputs(const Product& product, std::size_t rows, const Parts& parts) {
  const std::size_t band = kTileRows * product.inputs;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* const from = product.in + row * product.in_stride;
    for (std::size_t k = 0; k < product.inputs; k += kLanes) {
      const Floats value = row < product.rows ? Load(from + k) : Floats{};
      const Words high = (BitsOf(value) + kHalfOfLower) & kUpper;
      const Words low = BitsOf(value - reinterpret_cast<Floats>(high)) + kHalfOfLower;
      const std::size_t at = row / kTileRows * band + k / kTileInputs * kTileSize +
                             row % kTileRows * kTileInputs + k % kTileInputs;
      StoreUpper(high, parts.high + at);
      StoreUpper(low, parts.low + at);
    }
  }
}

/// One or two bands of 16 rows times two panels; sums has kHeight rows of kWidth.
template <bool kTwoBands>
void MultiplyBands(const Parts& in, std::size_t inputs, const Parts& weights, float* sums) {
  const std::size_t size = kTileRows * inputs;  // of a band, and of a panel
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTwoBands) {
    _tile_zero(2);
    _tile_zero(3);
  }
  for (std::size_t at = 0; at < size; at += kTileSize) {
    _tile_loadd(6, weights.high + at, kTileBytes);
    _tile_loadd(7, weights.high + size + at, kTileBytes);
    _tile_loadd(4, in.low + at, kTileBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwoBands) {
      _tile_loadd(5, in.low + size + at, kTileBytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_loadd(4, in.high + at, kTileBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwoBands) {
      _tile_loadd(5, in.high + size + at, kTileBytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_loadd(6, weights.low + at, kTileBytes);
    _tile_loadd(7, weights.low + size + at, kTileBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwoBands) {
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  constexpr std::size_t kStride = kWidth * sizeof(float);
  _tile_stored(0, sums, kStride);
  _tile_stored(1, sums + kPanelWidth, kStride);
  if constexpr (kTwoBands) {
    _tile_stored(2, sums + kTileRows * kWidth, kStride);
    _tile_stored(3, sums + kTileRows * kWidth + kPanelWidth, kStride);
  }
  Settle();
}

/// What else is to be done with sums on their way out.
void Finish(const Product& product, const float* sums, std::size_t first_row, std::size_t rows,
            std::size_t first_output) {
  for (std::size_t row = 0; row < rows; ++row) {
    float* const out = product.out + (first_row + row) * product.out_stride + first_output;
    for (std::size_t i = 0; i < kWidth; i += kLanes) {
      Floats value = Load(sums + row * kWidth + i) + Load(product.bias + first_output + i);
      if (product.activation == Activation::kGelu) {
        value = Gelu(value);
      }
      Store(out + i, product.target == Target::kAdd ? Load(out + i) + value : value);
    }
  }
}

/// Rows of tiles that lie in two lines of the cache take twice as long.
float* Aligned(float* scratch) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(scratch) % kTileBytes;
  return beyond == 0 ? scratch : scratch + (kTileBytes - beyond) / sizeof(float);
}

/// Whatever the number of rows: a text has the same vector alone and among others.
bool IsForTiles(const Product& product) {
  return product.inputs % kTileInputs == 0 && product.outputs % kWidth == 0;
}

}  // namespace

void MultiplyByTiles(const Product& product) {
  if (!IsForTiles(product)) {
    kAvx512Kernels.multiply(product);
    return;
  }
  const std::size_t rows = (product.rows + kTileRows - 1) / kTileRows * kTileRows;
  float* const sums = Aligned(product.scratch);
  auto* const split = reinterpret_cast<Brain*>(sums + kHeight * kWidth);
  const Parts in = {split, split + rows * product.inputs};
  Brain* const behind = in.low + rows * product.inputs;
  const Parts weights = {behind, behind + kWidth * product.inputs};
  const Parts second = {weights.high + kPanelWidth * product.inputs,
                        weights.low + kPanelWidth * product.inputs};
  SplitInputs(product, rows, in);
  _tile_loadconfig(&kTileConfig);
  for (std::size_t output = 0; output < product.outputs; output += kWidth) {
    const std::uint16_t* const panel = product.panels + output * product.inputs;
    SplitPanel(panel, product.inputs, weights);
    SplitPanel(panel + kPanelWidth * product.inputs, product.inputs, second);
    Settle();
    for (std::size_t row = 0; row < product.rows; row += kHeight) {
      const Parts bands = {in.high + row * product.inputs, in.low + row * product.inputs};
      const std::size_t left = product.rows - row;
      if (left > kTileRows) {
        MultiplyBands<true>(bands, product.inputs, weights, sums);
      } else {
        MultiplyBands<false>(bands, product.inputs, weights, sums);
      }
      Finish(product, sums, row, left < kHeight ? left : kHeight, output);
    }
  }
  _tile_release();
}

}  // namespace ai::model

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
