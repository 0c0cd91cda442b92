// What becomes of memory that a worker has freed: kept for the next batch, or returned to the
// system.
#pragma once

#include "core/clock.hpp"

namespace ai::worker {

class FreedMemory final {
 public:
  /// The texts and vectors of a batch are some hundred kilobytes that come and go: what one leaves
  /// is kept for the next, up to a limit, and not returned to the system each time. Texts that
  /// are long in themselves leave nothing behind.
  static void KeepSome();

  /// For a worker that has nothing to do: what large rows have left lies between what is used, and
  /// nobody else returns it.
  void Return(SteadyTime now);

 private:
  SteadyTime next_ = {};
};

}  // namespace ai::worker
