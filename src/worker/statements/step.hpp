// From what a step on the database throws to what the pipeline is told.
#pragma once

#include <type_traits>

#include "core/pipeline/step.hpp"
#include "pg/error.hpp"
#include "pg/owner_scope.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

/// A failure of a step that is known where it happens; nothing was changed.
struct StepAbandoned final : std::exception {
  StepAbandoned(pipeline::StepTrouble its_trouble, const char* its_reason)
      : trouble(its_trouble), reason(its_reason) {}
  const char* what() const noexcept override { return reason; }

  pipeline::StepTrouble trouble;
  const char* reason;
};

/// Some of the rows are with another process by now.
inline StepAbandoned LeaseLost() {
  return {pipeline::StepTrouble::kLeaseLost, "rows were taken back"};
}
/// The work table was rewritten (VACUUM FULL, for one): no row can be found by its tid any more.
inline StepAbandoned TableRewritten() {
  return {pipeline::StepTrouble::kTableGone, "the work table was rewritten"};
}
/// Somebody has locked a table that is needed. Nobody waits for that.
inline StepAbandoned TableLocked() {
  return {pipeline::StepTrouble::kTableLocked, "a table is locked"};
}

pipeline::StepFailure FailureOf(const pg::Error& error);
pipeline::StepFailure FailureOf(const pg::OwnerCancelled& error);
pipeline::StepFailure FailureOf(const ai::Error& error);

/// Runs a step. What ends the process is passed on; is_outdated is asked when a table or a column
/// is missing: it may have another name.
template <typename Body, typename IsOutdated>
auto RunStep(const IsOutdated& is_outdated, const Body& body)
    -> pipeline::Step<std::invoke_result_t<Body>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return {};
    } else {
      return body();
    }
  } catch (const StepAbandoned& abandoned) {
    return pipeline::StepFailure(abandoned.trouble, abandoned.reason);
  } catch (const pg::OwnerCancelled& error) {
    return FailureOf(error);
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    pipeline::StepFailure failure = FailureOf(error);
    if (pg::MissesName(error) && is_outdated()) {
      failure.trouble = pipeline::StepTrouble::kOutdated;
    }
    return failure;
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
    return FailureOf(error);
  }
}

/// The same for a step that has no names of users in it.
template <typename Body>
auto RunStep(const Body& body) {
  return RunStep([] { return false; }, body);
}

}  // namespace ai::worker
