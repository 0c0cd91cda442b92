// errors.hpp: what a provider can have against a request, apart from how each provider says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ai::mock {

enum class ErrorKind {
  kBadRequest,
  kContextLength,
  kTooManyItems,
  kTooManyTokens,
  kMissingKey,
  kInvalidKey,
  kForbidden,
  kModelNotFound,
  kNotFound,
  kMethodNotAllowed,
  kTimeout,
  kConflict,
  kTooLarge,
  kUnprocessable,
  kRateLimit,
  kQuota,
  kServer,
  kBadGateway,
  kOverloaded,
  kGatewayTimeout,
};

std::optional<ErrorKind> FindErrorKind(std::string_view name);

/// The names a rule may use, separated by commas.
std::string ErrorKindNames();

/// The status that goes with an error, and the error that goes with a status.
int StatusOf(ErrorKind kind);
ErrorKind KindOf(int status);

}  // namespace ai::mock
