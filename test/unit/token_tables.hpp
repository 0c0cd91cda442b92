// Where tests and benchmarks find the real token tables.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/token/encoding.hpp"
#include "core/token/encoding_name.hpp"

namespace ai::test {

/// AI_TOKEN_TABLES, or build/share below the working directory.
inline std::string TableDirectory() {
  const char* const directory = std::getenv("AI_TOKEN_TABLES");
  return directory != nullptr && *directory != '\0' ? directory : "build/share";
}

/// Whether a missing table is a failure.
inline bool TablesAreRequired() {
  const char* const required = std::getenv("AI_REQUIRE_TOKEN_TABLES");
  return required != nullptr && *required != '\0';
}

/// Null if the table is not there. One that is there and damaged is an error.
inline std::shared_ptr<const token::Encoding> OpenInstalled(token::EncodingName name) {
  const std::string path = token::TablePath(TableDirectory(), name);
  return access(path.c_str(), F_OK) == 0 ? token::Encoding::Open(path) : nullptr;
}

}  // namespace ai::test
