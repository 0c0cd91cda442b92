// A failure that is expected in normal operation, as a value: its class decides how it is handled,
// and the provider's message is kept for the user. It never contains a secret, a request or a reply
// body.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ai {

enum class FailureClass {
  kDeferred,       // the provider asks to retry later; the rows are not at fault
  kTransient,      // a temporary problem of the network or the provider
  kSuspect,        // the provider refused the input; one of the rows of the batch is at fault
  kConfiguration,  // nothing will work before the key, the model or the account is changed
  kInvalidReply,   // the reply does not match the request and must not be stored
  kReclaimed,      // the worker crashed while it held the rows; one of them may be the cause
  kExhausted,      // no attempts are left; the row is a dead letter
};

/// The name of a class as in tables and messages: "deferred", "invalid_reply", ...
std::string_view Name(FailureClass failure_class);

/// One sentence for the user: what a failure of this class means and how it is handled.
std::string_view Describe(FailureClass failure_class);

/// The class of that name, nothing if there is none. Name and ParseFailureClass are inverse.
std::optional<FailureClass> ParseFailureClass(std::string_view name);

// Every member has an initializer, so that -Wextra lets a caller name only those that matter.
struct Failure {
  FailureClass failure_class = FailureClass::kTransient;
  std::string message = {};        // lower case, no full stop
  int http_status = 0;             // 0: there was no reply
  std::string provider_code = {};  // the provider's own code or type of error, may be empty
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
  std::string hint = {};  // a sentence that says what to do, may be empty
};

}  // namespace ai
