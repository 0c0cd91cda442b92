// Whether memory that a worker has freed is kept for the next batch or returned to the system.
#pragma once

#include "core/clock.hpp"

namespace ai::worker {

class FreedMemory final {
 public:
  /// The texts and vectors of a batch are a few hundred kilobytes: what one frees is kept for the
  /// next, up to a limit, instead of being returned to the system each time. Long texts are
  /// allocated with mmap and returned at once.
  static void KeepSome();

  /// For an idle worker: returns fragmented free memory that large rows have left behind.
  void Return(SteadyTime now);

 private:
  SteadyTime next_ = {};
};

}  // namespace ai::worker
