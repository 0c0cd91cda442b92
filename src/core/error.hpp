// The exception that the core throws at a caller's mistake or a broken limit. It carries what
// PostgreSQL's error report wants, without knowing PostgreSQL: the border maps ErrorCode to a
// SQLSTATE. Failures that are expected in normal running (a provider's 429) are not thrown; they
// are values, see failure.hpp.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ai {

enum class ErrorCode {
  kInvalidParameter,  // an argument or a configuration value is not acceptable
  kInvalidText,       // a text is not in the form asked for (JSON, UTF-8, a pattern)
  kLimitExceeded,     // an input or a computation is larger than we are willing to handle
  kNotSupported,      // correct, but this build or this provider cannot do it
  kUndefinedObject,   // a name refers to nothing
  kMissingResource,   // a file that should have been installed is not there or is damaged
  kProvider,          // a provider, or the way to it, failed us
  kCancelled,         // the caller asked to stop
  kInternal,          // a broken assumption of ours
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
