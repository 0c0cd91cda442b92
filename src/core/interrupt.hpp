// How long-running pure code lets its caller stop it. The core never looks at a signal; it asks
// the callback now and then, and unwinds by exception when the answer is yes.
#pragma once

#include "core/error.hpp"

namespace ai {

/// A plain function pointer, so that it can be passed everywhere without allocation.
/// Returns true when the work should stop. Null means: never.
/// INVARIANT: does not throw. It may be called from inside a C library.
using InterruptCheck = bool (*)();

/// Throws Error(kCancelled) if the caller wants the work to stop.
inline void CheckInterrupt(InterruptCheck pending) {
  if (pending != nullptr && pending()) {
    throw Error(ErrorCode::kCancelled, "canceling on request");
  }
}

}  // namespace ai
