// One simulated worker as its steps know it, and the mistakes that it may be given.
#pragma once

#include <exception>

#include "unit/simulation/world.hpp"

namespace ai::simulation {

/// The worker is gone, just here.
struct Crash final : std::exception {};

/// Mistakes that a pipeline could have, planted at its borders: the simulation must find each.
enum class Defect : std::uint8_t {
  kNone,
  kDoubleStore,   // rows are stored, and once more
  kLostRelease,   // rows are let go of in memory only
  kChargeOn429,   // "later" is taken for a failure
  kStarvation,    // who has a high priority comes first, always
  kBusyLoop,      // a queue always says that there is more
  kStaleWrite,    // rows are stored from what they were before
  kLeakedPermit,  // requests of a queue are kept, and never released
  kWrongBisect,   // the neighbour of a bad row is taken for it
  kLostEvent,     // a change is passed over and never looked at again
  kMixedVectors,  // rows get each other's vectors
};

/// One worker, as its steps know it.
struct WorkerState {
  WorkerId lease = 0;
  Defect defect = Defect::kNone;
  std::uint64_t steps = 0;  // since it started
  std::uint64_t steps_of_turn = 0;
};

/// A step begins: it takes time, and the worker may die before or after it.
class StepScope final {
 public:
  StepScope(World& world, WorkerState& worker, const char* name);
  /// What it did is committed.
  void End();

 private:
  World& world_;
  bool dies_after_ = false;
};

}  // namespace ai::simulation
