// The failure of a step on the database. A step is a transaction: if it fails, it has changed
// nothing. What ends the process (a shutdown, a cancellation, DROP EXTENSION) is an exception and
// passes through the pipeline.
#pragma once

#include "core/result.hpp"

namespace ai::pipeline {

enum class StepError : std::uint8_t {
  kLeaseLost,    // another process has claimed some of the rows
  kTableGone,    // the work table was rewritten: claimed rows cannot be identified any more
  kTableLocked,  // a table is locked; the step did not wait
  kRowLocked,    // a row was locked for longer than a step waits
  kYielded,      // an owner's code was cancelled because others had to wait
  kTimedOut,     // an owner's code exceeded ai.store_timeout
  kOutdated,     // a table or column was renamed: the source has to be reopened
  kRowRejected,  // a value of a row was rejected, for example by a constraint
  kServer,       // out of memory, disk, connections: not the row's fault
  kUnusable,     // the configuration is unusable
  kDropped,      // the queue was dropped
  kOther,        // the row or the table is at fault: other rows will show which
};

struct StepFailure : Failure {
  StepError error = StepError::kOther;

  StepFailure(StepError its_error, Failure failure)
      : Failure(std::move(failure)), error(its_error) {}
  StepFailure(StepError its_error, std::string text)
      : Failure{.message = std::move(text)}, error(its_error) {}
};

template <typename T = void>
using Step = Result<T, StepFailure>;

}  // namespace ai::pipeline
