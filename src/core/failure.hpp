// A failure that is expected in normal running, as a value: what class it is of decides what
// follows, what the provider said is kept for the user. It never carries a secret, a request or a
// reply body.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ai {

enum class FailureClass {
  kDeferred,       // the provider asks to come back later; the rows are not to blame
  kTransient,      // trouble on the way or at the provider that is likely to pass
  kSuspect,        // the provider refused the input; one of the rows of the batch is to blame
  kConfiguration,  // nothing will work before somebody changes a key, a model or a contract
  kInvalidReply,   // the provider answered with something that must not be written
  kReclaimed,      // the worker died while it held the rows; one of them may have killed it
  kExhausted,      // every attempt was used up; the row waits for a hand
};

/// The name of a class as it stands in tables and messages: "deferred", "invalid_reply", ...
std::string_view Name(FailureClass failure_class);

/// One sentence for the user: what a failure of this class means and what follows from it.
std::string_view Describe(FailureClass failure_class);

/// The class of that name, nothing if there is none. Name and ParseFailureClass are inverse.
std::optional<FailureClass> ParseFailureClass(std::string_view name);

// Every member has an initializer, so that -Wextra lets a caller name only those that matter.
struct Failure {
  FailureClass failure_class = FailureClass::kTransient;
  std::string message = {};        // lower case, no full stop
  int http_status = 0;             // 0: there was no answer
  std::string provider_code = {};  // the provider's own code or type of error, may be empty
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
  std::string hint = {};  // a sentence that says what to do, may be empty
};

}  // namespace ai
