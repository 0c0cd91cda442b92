// See blame.hpp.
#include "core/policy/blame.hpp"

namespace ai::policy {
namespace {

/// How often rows are tried together.
constexpr int kTogether = 2;
/// How often a row is tried before it is charged.
constexpr int kBeforeCharge = 3;
/// The same without evidence that the row is at fault. The breaker counts at least one failure
/// between two failures of a row, so with the default limit it is open by then.
constexpr int kPatience = 8;

}  // namespace

FailureAction ActionAfter(const FailedRequest& request) {
  if (request.verdict.tripped) {
    return FailureAction::kRelease;
  }
  const bool blamed = request.verdict.follows_rows;
  if (request.failure_class == FailureClass::kInvalidReply) {
    // It did reply, and would reply the same again.
    return request.rows > 1 ? FailureAction::kSplit : FailureAction::kCharge;
  }
  if (request.rows > 1 && (blamed || request.failures >= kTogether)) {
    return FailureAction::kSplit;
  }
  return request.failures >= (blamed ? kBeforeCharge : kPatience) ? FailureAction::kCharge
                                                                  : FailureAction::kRetry;
}

}  // namespace ai::policy
