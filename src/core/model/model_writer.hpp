// Makes the bytes of a packed model out of its parts. For set-up, for directories that are opened
// as they are, and for tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/model/model_format.hpp"
#include "core/model/wordpiece.hpp"

namespace ai::model {

/// Where weights come from, by their names in a BERT checkpoint.
class TensorSource {
 public:
  TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  virtual ~TensorSource() = default;

  /// Fills out with the tensor of rows x columns, in that order; a vector is one row. Throws Error
  /// if there is none, or one of another shape.
  virtual void Read(const std::string& name, std::size_t rows, std::size_t columns,
                    std::span<float> out) const = 0;
};

struct ModelSource {
  std::string name;
  std::string source;  // a few words for people
  std::string notice;  // of the license
  std::string query_prefix;
  std::string passage_prefix;
  Shape shape = {};
  std::size_t token_types = 2;  // at least one, of which only the first is used
  float epsilon = 1e-12F;
  TokenizerRules rules;
  std::vector<std::string> tokens;  // shape.tokens of them; empty if there is none of that id
};

/// Throws Error: kInvalidParameter if the parts do not fit each other, kNotSupported if a weight is
/// too great for 16 bits, and what the tensors throw.
std::string PackModel(const ModelSource& source, const TensorSource& tensors);

}  // namespace ai::model
