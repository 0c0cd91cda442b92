// Cancellation of long-running pure code. The core never checks signals; it calls the callback
// periodically, and unwinds by an exception if that returns true.
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
