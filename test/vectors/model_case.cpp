// See model_case.hpp.
#include "vectors/model_case.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "unit/model_file.hpp"

namespace ai::vectors {
namespace {

constexpr double kLeastCosine = 0.99999;
constexpr double kMaxOff = 1e-3;

}  // namespace

bool IsModelCase(json::Value line) {
  return line.kind() == json::Kind::kObject && line.Find("text") && line.Find("embedding");
}

ModelCheck::ModelCheck() {
  if (auto model = test::OpenInstalledModel()) {
    encoder_ = std::make_unique<model::Encoder>(std::move(model));
  }
}

std::optional<std::string> ModelCheck::SkipReason() const {
  return encoder_ == nullptr ? std::optional<std::string>("the model is not installed")
                             : std::nullopt;
}

std::optional<std::string> ModelCheck::Check(json::Value line) {
  const std::string_view text = line.GetString("text");
  std::vector<float> vector(encoder_->model().dimensions());
  if (line.At("embedding").size() != vector.size()) {
    return "expected a vector of another size than " + std::to_string(vector.size());
  }
  encoder_->Encode({&text, 1}, vector);
  double product = 0;
  double squares = 0;
  double expected_squares = 0;
  double most_off = 0;
  std::size_t at = 0;
  for (const json::Value item : line.At("embedding").items()) {
    const double expected = item.AsDouble();
    const double ours = vector[at++];
    product += expected * ours;
    squares += ours * ours;
    expected_squares += expected * expected;
    most_off = std::max(most_off, std::fabs(expected - ours));
  }
  const double cosine = product / std::sqrt(squares * expected_squares);
  if (cosine >= kLeastCosine && most_off <= kMaxOff) {
    return std::nullopt;
  }
  return "cosine " + std::to_string(cosine) + ", a component is off by " + std::to_string(most_off);
}

}  // namespace ai::vectors
