// A tiny model with random weights, made on the spot: what is tested with it needs nothing that is
// installed. Its weights are kept as they were packed, for a plain computation to compare with.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/model/half.hpp"
#include "core/model/model.hpp"
#include "core/model/model_writer.hpp"

namespace ai::test {

/// Tensors by name, made when they are first asked for.
class RandomTensors final : public model::TensorSource {
 public:
  explicit RandomTensors(std::uint64_t seed) : random_(seed) {}

  void Read(const std::string& name, std::size_t rows, std::size_t columns,
            std::span<float> out) const override {
    std::vector<float>& tensor = tensors_[name];
    const bool is_norm_weight = name.ends_with("LayerNorm.weight");
    while (tensor.size() < rows * columns) {
      const float value = static_cast<float>(distribution_(random_)) * 0.3F;
      // Such that nothing is lost when they are packed as 16-bit floats.
      tensor.push_back(model::FromHalf(model::ToHalf(is_norm_weight ? value + 1 : value)));
    }
    RequireSame(tensor.size(), out.size());
    std::copy(tensor.begin(), tensor.end(), out.begin());
  }

  const std::vector<float>& Get(const std::string& name) const { return tensors_.at(name); }
  void Set(const std::string& name, std::vector<float> values) {
    tensors_[name] = std::move(values);
  }
  const std::map<std::string, std::vector<float>>& all() const { return tensors_; }

 private:
  static void RequireSame(std::size_t a, std::size_t b) {
    if (a != b) {
      throw Error(ErrorCode::kInternal, "a tensor is asked for in two shapes");
    }
  }

  mutable std::mt19937_64 random_;
  mutable std::normal_distribution<double> distribution_;
  mutable std::map<std::string, std::vector<float>> tensors_;
};

inline std::vector<std::string> TinyTokens() {
  return {"[PAD]",     "[UNK]",    "[CLS]",  "[SEP]", "[MASK]",    "the",
          "cat",       "sat",      "on",     "mat",   "un",        "##believ",
          "##able",    "##s",      "a",      "b",     "##a",       "##b",
          ".",         ",",        "'",      "[",     "]",         "cafe",
          "\u4E2D",    "\u03C3",   "\u00DF", "stra",  "##\u00DFe", "internationalization",
          "##ization", "query",    ":",      "1",     "##2",       "\u1112",
          "##\u1161",  "##\u11AB", ";",      "i"};
}

inline model::ModelSource TinySource() {
  model::ModelSource source;
  source.name = "tiny";
  source.source = "made by a test";
  source.notice = "No rights reserved.";
  source.tokens = TinyTokens();
  source.shape = {2,  2,
                  32, 48,
                  20, static_cast<std::uint32_t>(source.tokens.size()),
                  16, model::Pooling::kMean};
  source.rules.unknown = 1;
  source.rules.start = 2;
  source.rules.end = 3;
  source.rules.specials = {0, 1, 2, 3, 4};
  return source;
}

inline std::string PackTiny(const model::ModelSource& source = TinySource()) {
  return model::PackModel(source, RandomTensors(7));
}

inline std::shared_ptr<const model::Model> OwnModel(std::string bytes) {
  return std::make_shared<const model::Model>(model::PackedModel::Own(std::move(bytes), "here"));
}

inline std::shared_ptr<const model::Model> TinyModel(
    const model::ModelSource& source = TinySource()) {
  return OwnModel(PackTiny(source));
}

}  // namespace ai::test
