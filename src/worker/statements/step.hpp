// Translates exceptions of a step on the database into failures of the pipeline.
#pragma once

#include <type_traits>

#include "core/pipeline/step.hpp"
#include "pg/error.hpp"
#include "pg/owner_scope.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

/// A step detects by itself that it has to fail; nothing was changed.
struct StepAbandoned final : std::exception {
  StepAbandoned(pipeline::StepError its_error, const char* its_reason)
      : error(its_error), reason(its_reason) {}
  const char* what() const noexcept override { return reason; }

  pipeline::StepError error;
  const char* reason;
};

/// Another process has claimed some of the rows.
inline StepAbandoned LeaseLost() {
  return {pipeline::StepError::kLeaseLost, "lease of rows was lost"};
}
/// The work table was rewritten (for example by VACUUM FULL): rows can no longer be found by tid.
inline StepAbandoned TableRewritten() {
  return {pipeline::StepError::kTableGone, "the work table was rewritten"};
}
/// A required table is locked; steps do not wait for that.
inline StepAbandoned TableLocked() {
  return {pipeline::StepError::kTableLocked, "a table is locked"};
}

pipeline::StepFailure FailureOf(const pg::Error& error);
pipeline::StepFailure FailureOf(const pg::OwnerCancelled& error);
pipeline::StepFailure FailureOf(const ai::Error& error);

/// Runs a step. What ends the process is rethrown; is_outdated is called when a table or column
/// does not exist: it may have been renamed.
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
    return pipeline::StepFailure(abandoned.error, abandoned.reason);
  } catch (const pg::OwnerCancelled& error) {
    return FailureOf(error);
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    pipeline::StepFailure failure = FailureOf(error);
    if (pg::MissesName(error) && is_outdated()) {
      failure.error = pipeline::StepError::kOutdated;
    }
    return failure;
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
    return FailureOf(error);
  }
}

/// The same for a step that uses only our own tables.
template <typename Body>
auto RunStep(const Body& body) {
  return RunStep([] { return false; }, body);
}

}  // namespace ai::worker
