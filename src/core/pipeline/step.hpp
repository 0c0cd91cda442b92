// What a step on the database says when it did not succeed. A step is a transaction: what has
// failed has changed nothing. What ends the process (a shutdown, a cancellation, an extension that
// is being dropped) is an exception, and passes through the pipeline.
#pragma once

#include "core/result.hpp"

namespace ai::pipeline {

enum class StepTrouble : std::uint8_t {
  kLeaseLost,    // some of the rows are with another process by now
  kTableGone,    // the work table was rewritten: what was claimed cannot be told any more
  kTableLocked,  // somebody has locked a table; nobody waited for it
  kRowLocked,    // somebody has locked a row for longer than a step waits
  kYielded,      // an owner's code was broken off, because others had to wait for it
  kTimedOut,     // an owner's code took longer than it may
  kOutdated,     // a table or a column has another name: the source has to be opened anew
  kAboutRow,     // a value of a row is refused, by a constraint for one
  kOfServer,     // memory, disk, connections: nobody's fault who has to do with the row
  kUnusable,     // the configuration, as it is
  kDropped,      // there is no such queue any more
  kOther,        // of the row or of the table: what becomes of other rows tells
};

struct StepFailure : Failure {
  StepTrouble trouble = StepTrouble::kOther;

  StepFailure(StepTrouble its_trouble, Failure failure)
      : Failure(std::move(failure)), trouble(its_trouble) {}
  StepFailure(StepTrouble its_trouble, std::string text)
      : Failure{.message = std::move(text)}, trouble(its_trouble) {}
};

template <typename T = void>
using Step = Result<T, StepFailure>;

}  // namespace ai::pipeline
