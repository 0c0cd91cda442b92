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
    // Rare (a recovery conflict): the work has to stop, without a specific reason.
    return true;
  }
}

}  // namespace ai::pg
