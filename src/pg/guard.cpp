#include "pg/guard.hpp"

namespace ai::pg {

bool ServeInterrupts() noexcept {
  if (!INTERRUPTS_PENDING_CONDITION()) {
    return false;
  }
  if (QueryCancelPending || ProcDiePending) {
    return true;
  }
  try {
    Call([] { CHECK_FOR_INTERRUPTS(); });
    return false;
  } catch (const std::exception&) {
    // Rare (a conflict with recovery): the work has to end, with less of a reason.
    return true;
  }
}

}  // namespace ai::pg
