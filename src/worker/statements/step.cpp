#include "worker/statements/step.hpp"

namespace ai::worker {

using pipeline::StepFailure;
using pipeline::StepTrouble;

StepFailure FailureOf(const pg::Error& error) {
  if (pg::MeetsLock(error)) {
    return {StepTrouble::kRowLocked, error.what()};
  }
  if (pg::IsAboutRow(error)) {
    return {StepTrouble::kAboutRow, error.what()};
  }
  return {pg::IsOfServer(error) ? StepTrouble::kOfServer : StepTrouble::kOther, error.what()};
}

StepFailure FailureOf(const pg::OwnerCancelled& error) {
  const bool timed_out = error.reason() == pg::OwnerCancelled::Reason::kTime;
  return {timed_out ? StepTrouble::kTimedOut : StepTrouble::kYielded, error.what()};
}

StepFailure FailureOf(const ai::Error& error) {
  const bool dropped = error.code() == ErrorCode::kUndefinedObject;
  return {dropped ? StepTrouble::kDropped : StepTrouble::kUnusable,
          Failure{.failure_class = FailureClass::kConfiguration,
                  .message = error.what(),
                  .hint = error.hint()}};
}

}  // namespace ai::worker
