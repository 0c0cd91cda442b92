// The only way to Catch2: version 2 (one header) and version 3 (a library) look the same behind it.
//
// Tests use TEST_CASE, SECTION, REQUIRE, CHECK and the *_THROWS_* family as usual, and take
// matchers from ai::test instead of Catch, because those moved between the versions.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define AI_CATCH_VERSION 3
#elif __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#define AI_CATCH_VERSION 2
#else
#error "Catch2 is not installed (package catch2)"
#endif

#include <string>
#include <utility>

#include "core/error.hpp"

namespace ai::test {

using Catch::Approx;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

#if AI_CATCH_VERSION == 3
using Catch::Matchers::ContainsSubstring;
template <typename T>
using MatcherBase = Catch::Matchers::MatcherBase<T>;
#else
inline auto ContainsSubstring(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
template <typename T>
using MatcherBase = Catch::MatcherBase<T>;
#endif

/// Matches an ai::Error by its code and a part of its message:
/// REQUIRE_THROWS_MATCHES(f(), ai::Error, IsError(ai::ErrorCode::kInvalidText, "at byte 7"))
class IsError final : public MatcherBase<Error> {
 public:
  explicit IsError(ErrorCode code, std::string message_part = {})
      : code_(code), message_part_(std::move(message_part)) {}

  bool match(const Error& error) const override {
    return error.code() == code_ &&
           std::string(error.what()).find(message_part_) != std::string::npos;
  }

  std::string describe() const override {
    return "has error code " + std::to_string(static_cast<int>(code_)) + " and says \"" +
           message_part_ + "\"";
  }

 private:
  ErrorCode code_;
  std::string message_part_;
};

}  // namespace ai::test

/// So that a failing matcher shows the message and code instead of {?}.
template <>
struct Catch::StringMaker<ai::Error> {
  static std::string convert(const ai::Error& error) {
    return "ai::Error(code " + std::to_string(static_cast<int>(error.code())) + ", \"" +
           error.what() + "\")";
  }
};
