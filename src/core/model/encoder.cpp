#include "core/model/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace ai::model {
namespace {

/// Of a group, unless a single text is longer. More makes nothing faster.
constexpr std::size_t kGroupRows = 256;
constexpr double kStepMilliseconds = 15;

void GrowTo(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) {
    buffer = std::vector<float>(size);
  }
}

}  // namespace

Encoder::Encoder(std::shared_ptr<const Model> model, const Kernels& kernels)
    : model_(std::move(model)), kernels_(kernels), shape_(model_->packed().header().shape) {}

void Encoder::Encode(std::span<const std::string_view> texts, std::span<float> out,
                     InterruptCheck pending, Purpose purpose) {
  Start(texts, out, purpose);
  while (!Step(pending)) {
  }
}

void Encoder::Start(std::span<const std::string_view> texts, std::span<float> out,
                    Purpose purpose) {
  if (out.size() != texts.size() * shape_.hidden) {
    throw Error(ErrorCode::kInternal, "there is no room for " + std::to_string(texts.size()) +
                                          " vectors of " + std::to_string(shape_.hidden) +
                                          " dimensions");
  }
  texts_ = texts;
  out_ = out;
  purpose_ = purpose;
  next_text_ = 0;
  truncated_.clear();
  tokens_ = 0;
  waiting_.clear();
  stage_ = Stage::kGather;
}

bool Encoder::Step(InterruptCheck pending) {
  const double budget = kStepMilliseconds * kernels_.operations_per_millisecond;
  for (double spent = 0; stage_ != Stage::kDone && spent < budget;) {
    CheckInterrupt(pending);
    spent += RunUnit(pending);
  }
  return stage_ == Stage::kDone;
}

std::size_t Encoder::DropUnstarted() {
  texts_ = texts_.first(next_text_);
  out_ = out_.first(next_text_ * shape_.hidden);
  waiting_.clear();
  std::erase(truncated_, next_text_);
  return next_text_;
}

/// Returns about how many operations it took.
double Encoder::RunUnit(InterruptCheck pending) {
  switch (stage_) {
    case Stage::kGather:
      return Gather(pending);
    case Stage::kProject:
      return Project();
    case Stage::kAttend:
      return AttendPiece();
    case Stage::kFeed:
      return Feed();
    case Stage::kPool:
      return Pool();
    case Stage::kDone:
      break;
  }
  return 0;
}

/// Makes the next group.
double Encoder::Gather(InterruptCheck pending) {
  pieces_.clear();
  ids_.clear();
  while (TakeNext(pending)) {
  }
  if (pieces_.empty()) {
    stage_ = Stage::kDone;
    return 0;
  }
  Grow();
  Embed();
  layer_ = 0;
  at_ = 0;
  stage_ = Stage::kProject;
  // Tokens take hundreds of operations each, most of them waiting for memory.
  return 1e4 * static_cast<double>(ids_.size());
}

/// Adds the next text to the group if it fits.
bool Encoder::TakeNext(InterruptCheck pending) {
  if (waiting_.empty()) {
    if (next_text_ == texts_.size()) {
      return false;
    }
    if (model_->tokenizer().Tokenize(model_->Prefix(purpose_), texts_[next_text_],
                                     shape_.max_tokens, waiting_, pending)) {
      truncated_.push_back(next_text_);
    }
  }
  if (!ids_.empty() && ids_.size() + waiting_.size() > kGroupRows) {
    return false;
  }
  pieces_.push_back({next_text_, ids_.size(), waiting_.size()});
  ids_.insert(ids_.end(), waiting_.begin(), waiting_.end());
  tokens_ += waiting_.size();
  waiting_.clear();
  ++next_text_;
  return true;
}

void Encoder::Grow() {
  const std::size_t rows = ids_.size();
  std::size_t longest = 0;
  for (const Piece& piece : pieces_) {
    longest = std::max(longest, piece.rows);
  }
  GrowTo(hidden_, rows * shape_.hidden);
  GrowTo(attention_, rows * 3 * shape_.hidden);
  GrowTo(up_, std::min(rows, kernels_.block_rows) * shape_.intermediate);
  GrowTo(scratch_, std::max(AttentionScratch(longest, shape_.hidden / shape_.heads),
                            ProductScratch(std::min(rows, kernels_.block_rows),
                                           std::max(shape_.hidden, shape_.intermediate))));
}

void Encoder::Embed() {
  const PackedModel& packed = model_->packed();
  for (const Piece& piece : pieces_) {
    for (std::size_t i = 0; i < piece.rows; ++i) {
      const std::size_t row = piece.first_row + i;
      float* const out = hidden_.data() + row * shape_.hidden;
      std::copy_n(packed.PositionEmbedding(i), shape_.hidden, out);
      kernels_.add_halves(packed.TokenEmbedding(ids_[row]), shape_.hidden, out);
    }
  }
  Normalize(0, ids_.size(), packed.first_norm());
}

/// The rows of the next block: all blocks of a group about equal.
std::size_t Encoder::NextBlock() const {
  const std::size_t blocks = (ids_.size() + kernels_.block_rows - 1) / kernels_.block_rows;
  const std::size_t rows = (ids_.size() + blocks - 1) / blocks;
  const std::size_t even = (rows + kernels_.row_step - 1) / kernels_.row_step * kernels_.row_step;
  return std::min(even, ids_.size() - at_);
}

/// Moves on to the next stage when this one has come to its end.
void Encoder::Advance(std::size_t end, Stage next) {
  if (at_ >= end) {
    at_ = 0;
    stage_ = next;
  }
}

void Encoder::Multiply(std::size_t rows, const View& in, const Matrix& matrix, const View& out,
                       Activation activation, Target target) {
  kernels_.multiply({in.start, in.stride, rows, in.columns, matrix.panels, matrix.bias, out.columns,
                     out.start, out.stride, scratch_.data(), activation, target});
}

void Encoder::Normalize(std::size_t row, std::size_t rows, const Norm& norm) {
  kernels_.normalize({hidden_.data() + row * shape_.hidden, rows, shape_.hidden, norm.weight,
                      norm.bias, model_->packed().header().epsilon});
}

double Encoder::Project() {
  const std::size_t hidden = shape_.hidden;
  const std::size_t rows = NextBlock();
  const View block = {hidden_.data() + at_ * hidden, hidden, hidden};
  const View projected = {attention_.data() + at_ * 3 * hidden, 3 * hidden, 3 * hidden};
  Multiply(rows, block, model_->packed().Layer(layer_).attention_in, projected, Activation::kNone,
           Target::kReplace);
  at_ += rows;
  Advance(ids_.size(), Stage::kAttend);
  return 6.0 * static_cast<double>(rows) * static_cast<double>(hidden * hidden);
}

double Encoder::AttendPiece() {
  const Piece& piece = pieces_[at_];
  const std::size_t width = shape_.hidden / shape_.heads;
  float* const queries = attention_.data() + piece.first_row * 3 * shape_.hidden;
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    float* const start = queries + head * width;
    kernels_.attend({start, start + shape_.hidden, start + 2 * std::size_t{shape_.hidden},
                     3 * std::size_t{shape_.hidden}, piece.rows, width, scratch_.data()});
  }
  ++at_;
  const auto rows = static_cast<double>(piece.rows);
  Advance(pieces_.size(), Stage::kFeed);
  return 8.0 * rows * rows * shape_.hidden;
}

double Encoder::Feed() {
  const std::size_t hidden = shape_.hidden;
  const std::size_t rows = NextBlock();
  const LayerWeights weights = model_->packed().Layer(layer_);
  const View block = {hidden_.data() + at_ * hidden, hidden, hidden};
  const View attended = {attention_.data() + at_ * 3 * hidden, 3 * hidden, hidden};
  const View up = {up_.data(), shape_.intermediate, shape_.intermediate};
  Multiply(rows, attended, weights.attention_out, block, Activation::kNone, Target::kAdd);
  Normalize(at_, rows, weights.attention_norm);
  Multiply(rows, block, weights.up, up, Activation::kGelu, Target::kReplace);
  Multiply(rows, up, weights.down, block, Activation::kNone, Target::kAdd);
  Normalize(at_, rows, weights.output_norm);
  at_ += rows;
  if (at_ >= ids_.size()) {
    ++layer_;
    Advance(ids_.size(), layer_ < shape_.layers ? Stage::kProject : Stage::kPool);
  }
  return 2.0 * static_cast<double>(rows * hidden) *
         (static_cast<double>(hidden) + 2.0 * shape_.intermediate);
}

double Encoder::Pool() {
  for (const Piece& piece : pieces_) {
    PoolPiece(piece, out_.data() + piece.text * shape_.hidden);
  }
  stage_ = Stage::kGather;
  return static_cast<double>(ids_.size() * shape_.hidden);
}

void Encoder::PoolPiece(const Piece& piece, float* out) const {
  const std::size_t hidden = shape_.hidden;
  const float* row = hidden_.data() + piece.first_row * hidden;
  std::copy_n(row, hidden, out);
  const std::size_t rows = shape_.pooling == Pooling::kMean ? piece.rows : 1;
  for (std::size_t i = 1; i < rows; ++i) {
    row += hidden;
    for (std::size_t k = 0; k < hidden; ++k) {
      out[k] += row[k];
    }
  }
  double squares = 0;
  for (std::size_t k = 0; k < hidden; ++k) {
    squares += static_cast<double>(out[k]) * out[k];
  }
  if (!std::isfinite(squares) || squares == 0) {
    throw Error(ErrorCode::kMissingResource,
                "model \"" + std::string(model_->name()) + "\" gives no numbers",
                "Its weights are damaged.", "Install the model again.");
  }
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (std::size_t k = 0; k < hidden; ++k) {
    out[k] *= scale;
  }
}

}  // namespace ai::model
