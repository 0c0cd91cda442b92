#include "worker/statements/step.hpp"

namespace ai::worker {

using pipeline::StepError;
using pipeline::StepFailure;

StepFailure FailureOf(const pg::Error& error) {
  if (pg::MeetsLock(error)) {
    return {StepError::kRowLocked, error.what()};
  }
  if (pg::IsAboutRow(error)) {
    return {StepError::kRowRejected, error.what()};
  }
  return {pg::IsOfServer(error) ? StepError::kServer : StepError::kOther, error.what()};
}

StepFailure FailureOf(const pg::OwnerCancelled& error) {
  const bool timed_out = error.reason() == pg::OwnerCancelled::Reason::kTime;
  return {timed_out ? StepError::kTimedOut : StepError::kYielded, error.what()};
}

StepFailure FailureOf(const ai::Error& error) {
  const bool dropped = error.code() == ErrorCode::kUndefinedObject;
  return {dropped ? StepError::kDropped : StepError::kUnusable,
          Failure{.failure_class = FailureClass::kConfiguration,
                  .message = error.what(),
                  .hint = error.hint()}};
}

}  // namespace ai::worker
