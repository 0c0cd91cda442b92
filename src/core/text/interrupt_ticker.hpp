// Asking for an interrupt from a loop whose turns are too short to ask in each.
#pragma once

#include "core/interrupt.hpp"

namespace ai::text {

/// Asks once in a few thousand turns.
class InterruptTicker {
 public:
  explicit InterruptTicker(InterruptCheck pending) : pending_(pending) {}

  void Tick() {
    if ((++turns_ & kMask) == 0) {
      CheckInterrupt(pending_);
    }
  }

 private:
  static constexpr unsigned kMask = 0xFFF;

  InterruptCheck pending_;
  unsigned turns_ = 0;
};

}  // namespace ai::text
