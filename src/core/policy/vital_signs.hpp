// Whether a process lives, by the signs it gives: its loop goes round, and it answers when asked.
//
//   starting  must have gone round within the timeout
//   healthy   goes round; one that has not for the timeout is asked. One that answers is at work on
//             something long and is left alone until the stall limit; one that does not is stopped
//             or stuck in the kernel
//   stopping  must be gone within the timeout
#pragma once

#include <chrono>
#include <cstdint>

#include "core/clock.hpp"

namespace ai::policy {

enum class Phase : std::uint8_t { kStarting, kHealthy, kStopping };

struct VitalSigns {
  Phase phase;
  SteadyTime since;     // of the phase
  SteadyTime turned;    // when its loop went round last
  SteadyTime asked;     // when it was last asked whether it lives
  SteadyTime answered;  // when it last answered
};

struct Patience {
  std::chrono::milliseconds timeout;
  std::chrono::milliseconds stall;

  /// How long one that was asked has for its answer.
  std::chrono::milliseconds ForAnswer() const;
};

enum class Diagnosis : std::uint8_t {
  kWell,
  kToBeAsked,
  kSilent,         // does not answer
  kStalled,        // answers, and its loop does not go round
  kStuckStarting,  // is not there yet
  kStuckStopping,  // is still there
};

Diagnosis Diagnose(const VitalSigns& signs, const Patience& patience, SteadyTime now);

/// What is wrong, for a sentence that begins with the name of the process. Not for one that is
/// well, or to be asked.
const char* Describe(Diagnosis diagnosis);

}  // namespace ai::policy
