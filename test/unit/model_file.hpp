// Where tests and benchmarks find the real model.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/model/model.hpp"

namespace ai::test {

/// AI_MODEL, or what "make model" makes below the working directory.
inline std::string ModelPath() {
  const char* const path = std::getenv("AI_MODEL");
  return path != nullptr && *path != '\0' ? path : "build/share/all-MiniLM-L6-v2.model";
}

/// Whether a missing model is a failure.
inline bool ModelIsRequired() {
  const char* const required = std::getenv("AI_REQUIRE_MODEL");
  return required != nullptr && *required != '\0';
}

/// Null if the model is not there. One that is there and damaged is an error.
inline std::shared_ptr<const model::Model> OpenInstalledModel() {
  const std::string path = ModelPath();
  return access(path.c_str(), F_OK) == 0 ? model::Model::Open(path) : nullptr;
}

}  // namespace ai::test
