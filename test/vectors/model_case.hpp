// One oracle vector of the embedded model: a text and the vector that another engine gave.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/json/value.hpp"
#include "core/model/encoder.hpp"

namespace ai::vectors {

bool IsModelCase(json::Value line);

class ModelCheck {
 public:
  /// With the model that is installed, if it is.
  ModelCheck();

  std::optional<std::string> SkipReason() const;

  /// What is wrong, or nothing if our vector agrees: the cosine is at least 0.99999 and no
  /// component is off by more than 0.001. Throws Error if the case itself cannot be understood.
  std::optional<std::string> Check(json::Value line);

 private:
  std::unique_ptr<model::Encoder> encoder_;
};

}  // namespace ai::vectors
