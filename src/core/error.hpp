// The exception that the core throws for an invalid argument or an exceeded limit. It carries what
// PostgreSQL's error report wants, without knowing PostgreSQL: the border maps ErrorCode to a
// SQLSTATE. Failures that are expected in normal operation (a provider's 429) are not thrown; they
// are values, see failure.hpp.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ai {

enum class ErrorCode {
  kInvalidParameter,  // an argument or a configuration value is not acceptable
  kInvalidText,       // a text is not in the form asked for (JSON, UTF-8, a pattern)
  kLimitExceeded,     // an input or a computation exceeds a limit
  kNotSupported,      // correct, but this build or this provider cannot do it
  kUndefinedObject,   // a name refers to nothing
  kMissingResource,   // a file that should have been installed is missing or damaged
  kProvider,          // a provider or the network failed
  kCancelled,         // the caller asked to stop
  kInternal,          // an internal inconsistency
};

/// An error for the user. The message follows PostgreSQL's style: lower case, no full stop; detail
/// and hint are sentences; the hint is an action to take.
class Error final : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string detail = {}, std::string hint = {})
      : std::runtime_error(message),
        code_(code),
        detail_(std::move(detail)),
        hint_(std::move(hint)) {}

  ErrorCode code() const noexcept { return code_; }
  const std::string& detail() const noexcept { return detail_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorCode code_;
  std::string detail_;
  std::string hint_;
};

}  // namespace ai
