// errors.cpp: what a provider can have against a request.
#include "mock/errors.hpp"

#include <array>

namespace ai::mock {

namespace {

struct Known {
  ErrorKind kind;
  int status;
  std::string_view name;
};

// INVARIANT: the first row of a status is the error that a bare status stands for.
constexpr std::array kKnown{
    Known{ErrorKind::kBadRequest, 400, "bad_request"},
    Known{ErrorKind::kContextLength, 400, "context_length"},
    Known{ErrorKind::kTooManyItems, 400, "too_many_items"},
    Known{ErrorKind::kTooManyTokens, 400, "too_many_tokens"},
    Known{ErrorKind::kInvalidKey, 401, "invalid_key"},
    Known{ErrorKind::kMissingKey, 401, "missing_key"},
    Known{ErrorKind::kForbidden, 403, "forbidden"},
    Known{ErrorKind::kModelNotFound, 404, "model_not_found"},
    Known{ErrorKind::kNotFound, 404, "not_found"},
    Known{ErrorKind::kMethodNotAllowed, 405, "method_not_allowed"},
    Known{ErrorKind::kTimeout, 408, "timeout"},
    Known{ErrorKind::kConflict, 409, "conflict"},
    Known{ErrorKind::kTooLarge, 413, "too_large"},
    Known{ErrorKind::kUnprocessable, 422, "unprocessable"},
    Known{ErrorKind::kRateLimit, 429, "rate_limit"},
    Known{ErrorKind::kQuota, 429, "quota"},
    Known{ErrorKind::kServer, 500, "server"},
    Known{ErrorKind::kBadGateway, 502, "bad_gateway"},
    Known{ErrorKind::kOverloaded, 503, "overloaded"},
    Known{ErrorKind::kGatewayTimeout, 504, "gateway_timeout"},
};

}  // namespace

std::optional<ErrorKind> FindErrorKind(std::string_view name) {
  for (const Known& known : kKnown) {
    if (known.name == name) {
      return known.kind;
    }
  }
  return std::nullopt;
}

std::string ErrorKindNames() {
  std::string names;
  for (const Known& known : kKnown) {
    names += names.empty() ? "" : ", ";
    names += known.name;
  }
  return names;
}

int StatusOf(ErrorKind kind) {
  for (const Known& known : kKnown) {
    if (known.kind == kind) {
      return known.status;
    }
  }
  return 500;
}

ErrorKind KindOf(int status) {
  for (const Known& known : kKnown) {
    if (known.status == status) {
      return known.kind;
    }
  }
  return status >= 400 && status < 500 ? ErrorKind::kBadRequest : ErrorKind::kServer;
}

}  // namespace ai::mock
