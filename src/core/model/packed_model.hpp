// A packed model, opened and vouched for: whoever holds one may use its parts without any further
// check. Damaged weights, which opening does not read, give wrong numbers but no wrong access.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/file/mapped_file.hpp"
#include "core/model/model_format.hpp"
#include "core/model/vocabulary.hpp"
#include "core/model/wordpiece.hpp"

namespace ai::model {

struct Matrix {
  const std::uint16_t* panels;
  const float* bias;
};

struct Norm {
  const float* weight;
  const float* bias;
};

struct LayerWeights {
  Matrix attention_in;
  Matrix attention_out;
  Norm attention_norm;
  Matrix up;
  Matrix down;
  Norm output_norm;
};

class PackedModel {
 public:
  /// Maps the file at path; Error(kMissingResource) if there is no good one.
  static PackedModel Map(const std::string& path);
  /// Takes over a model that was packed in memory; `origin` is for messages.
  static PackedModel Own(std::string bytes, const std::string& origin);

  const ModelHeader& header() const { return header_; }
  std::string_view notice() const;
  Vocabulary vocabulary() const;
  TokenizerRules rules() const;

  /// INVARIANT for all of these: what is asked for is less than the shape says.
  const std::uint16_t* TokenEmbedding(TokenId id) const;
  const float* PositionEmbedding(std::size_t position) const;
  Norm first_norm() const;
  LayerWeights Layer(std::size_t layer) const;

  /// Reads everything: whether the weights are those that were packed.
  bool WeightsAreIntact() const;

 private:
  struct Storage;

  PackedModel(std::shared_ptr<const Storage> storage, const std::string& origin);
  void CheckVocabulary(const std::string& origin) const;
  template <typename T>
  const T* At(std::uint64_t offset) const;

  std::shared_ptr<const Storage> storage_;
  std::string_view bytes_;
  ModelHeader header_;
  Layout layout_;
};

}  // namespace ai::model
