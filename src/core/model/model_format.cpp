#include "core/model/model_format.hpp"

#include "core/model/kernels.hpp"
#include "core/token/table_format.hpp"

namespace ai::model {
namespace {

class Sections {
 public:
  explicit Sections(std::uint64_t start) : end_(start) {}

  /// The start of a section of that size.
  std::uint64_t Add(std::uint64_t count, std::uint64_t element_size) {
    const std::uint64_t at = end();
    end_ = at + count * element_size;
    return at;
  }

  std::uint64_t end() const {
    return (end_ + kModelAlignment - 1) / kModelAlignment * kModelAlignment;
  }

 private:
  std::uint64_t end_;
};

LayerLayout LayOutLayer(const Shape& shape) {
  constexpr std::uint64_t kHalf = sizeof(std::uint16_t);
  constexpr std::uint64_t kFloat = sizeof(float);
  const std::uint64_t hidden = shape.hidden;
  const std::uint64_t intermediate = shape.intermediate;
  Sections sections(0);
  LayerLayout layout = {};
  layout.attention_in = sections.Add(3 * hidden * hidden, kHalf);
  layout.attention_in_bias = sections.Add(3 * hidden, kFloat);
  layout.attention_out = sections.Add(hidden * hidden, kHalf);
  layout.attention_out_bias = sections.Add(hidden, kFloat);
  layout.attention_norm = sections.Add(2 * hidden, kFloat);
  layout.up = sections.Add(hidden * intermediate, kHalf);
  layout.up_bias = sections.Add(intermediate, kFloat);
  layout.down = sections.Add(intermediate * hidden, kHalf);
  layout.down_bias = sections.Add(hidden, kFloat);
  layout.output_norm = sections.Add(2 * hidden, kFloat);
  layout.end = sections.end();
  return layout;
}

}  // namespace

const char* ProblemOf(const Shape& shape) {
  if (shape.layers < 1 || shape.layers > 64) {
    return "the number of layers is not from 1 to 64";
  }
  if (shape.hidden < kPanelWidth || shape.hidden > 4096 || shape.hidden % kPanelWidth != 0) {
    return "the hidden size is not a multiple of 16 up to 4096";
  }
  if (shape.intermediate < kPanelWidth || shape.intermediate > 16384 ||
      shape.intermediate % kPanelWidth != 0) {
    return "the intermediate size is not a multiple of 16 up to 16384";
  }
  if (shape.heads < 1 || shape.hidden % shape.heads != 0 ||
      shape.hidden / shape.heads % kPanelWidth != 0) {
    return "the attention heads are not a multiple of 16 wide";
  }
  if (shape.positions < 2 || shape.positions > 8192) {
    return "the number of positions is not from 2 to 8192";
  }
  if (shape.max_tokens < 2 || shape.max_tokens > shape.positions) {
    return "the longest text is not from 2 tokens to the number of positions";
  }
  if (shape.tokens < 1 || shape.tokens > (1U << 20)) {
    return "the number of tokens is not from 1 to 1048576";
  }
  if (shape.pooling != Pooling::kMean && shape.pooling != Pooling::kFirst) {
    return "the pooling is unknown";
  }
  return nullptr;
}

Layout LayOut(const ModelHeader& header) {
  const Shape& shape = header.shape;
  Sections sections(sizeof(ModelHeader));
  Layout layout = {};
  layout.notice = sections.Add(header.notice_bytes, 1);
  layout.words = sections.Add(std::uint64_t{1} << header.word_bits, sizeof(token::Slot));
  layout.continuations =
      sections.Add(std::uint64_t{1} << header.continuation_bits, sizeof(token::Slot));
  layout.offsets = sections.Add(std::uint64_t{shape.tokens} + 1, sizeof(std::uint32_t));
  layout.bytes = sections.Add(header.token_bytes, 1);
  layout.token_embeddings =
      sections.Add(std::uint64_t{shape.tokens} * shape.hidden, sizeof(std::uint16_t));
  layout.position_embeddings =
      sections.Add(std::uint64_t{shape.positions} * shape.hidden, sizeof(float));
  layout.first_norm = sections.Add(2 * std::uint64_t{shape.hidden}, sizeof(float));
  layout.layer = LayOutLayer(shape);
  layout.layers = sections.Add(shape.layers, layout.layer.end);
  layout.end = sections.end();
  return layout;
}

}  // namespace ai::model
