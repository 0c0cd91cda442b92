// The arithmetic of the encoder, in one variant for each kind of processor. All variants give the
// same numbers up to rounding; the best one that this processor can run is chosen once.
//
// Weights are 16-bit floats in panels of kPanelWidth outputs: for each input in turn, the weights
// of the panel's outputs beside each other. A product reads a panel front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ai::model {

inline constexpr std::size_t kPanelWidth = 16;

enum class Activation : std::uint8_t { kNone, kGelu };
enum class Target : std::uint8_t { kReplace, kAdd };

/// out = activation(in x weights + bias), or out += that. INVARIANT: `outputs` is a multiple of
/// kPanelWidth; `scratch` has ProductScratch() floats; in and out do not overlap.
struct Product {
  const float* in;
  std::size_t in_stride;  // from row to row, in floats
  std::size_t rows;
  std::size_t inputs;
  const std::uint16_t* panels;
  const float* bias;
  std::size_t outputs;
  float* out;
  std::size_t out_stride;
  float* scratch;
  Activation activation = Activation::kNone;
  Target target = Target::kReplace;
};

/// Room for sums, for the rows in two parts, and for two panels widened or in two parts: what the
/// neediest of the variants has.
constexpr std::size_t ProductScratch(std::size_t rows, std::size_t inputs) {
  constexpr std::size_t kSums = 1024 + 16;  // aligned
  return kSums + (rows + kPanelWidth - 1 + 2 * kPanelWidth) * inputs;
}

/// One head of self-attention over one text: queries are replaced by what they attend to.
/// INVARIANT: `width` is a multiple of kPanelWidth; `scratch` has AttentionScratch() floats.
struct Attention {
  float* queries;
  const float* keys;
  const float* values;
  std::size_t stride;  // of all three, from token to token
  std::size_t tokens;
  std::size_t width;  // of the head
  float* scratch;
};

/// Rows are shifted and scaled to mean 0 and variance 1, then by weight and bias.
struct Normalization {
  float* rows;
  std::size_t count;
  std::size_t width;  // a multiple of kPanelWidth
  const float* weight;
  const float* bias;
  float epsilon;
};

struct Kernels {
  std::string_view name;
  double operations_per_millisecond;  // a careful guess, to cut work into slices
  std::size_t block_rows;  // that products are best made of, so that all stays in the cache
  std::size_t row_step;    // a divisor of these: blocks of other sizes waste time
  void (*multiply)(const Product& product);
  void (*attend)(const Attention& attention);
  void (*normalize)(const Normalization& normalization);
  /// out += the 16-bit floats; width is a multiple of kPanelWidth.
  void (*add_halves)(const std::uint16_t* halves, std::size_t width, float* out);
};

/// Packed keys and values, and for a panel of queries these and their scores.
constexpr std::size_t AttentionScratch(std::size_t tokens, std::size_t width) {
  return 2 * tokens * width + kPanelWidth * (width + tokens);
}

/// What this processor can run, the best last. The first runs everywhere.
std::span<const Kernels* const> RunnableKernels();
const Kernels& BestKernels();

extern const Kernels kPlainKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
extern const Kernels kAmxKernels;
/// The product of kAmxKernels, which are those for AVX-512 else.
void MultiplyByTiles(const Product& product);
#endif

}  // namespace ai::model
