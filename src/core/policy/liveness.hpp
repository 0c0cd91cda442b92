// Whether a process is alive: its main loop completes turns, and it replies to pings.
//
//   starting  has to complete its first turn within the timeout
//   healthy   completes turns; if it has not for the timeout, it is pinged. One that replies is
//             busy and has until the stall limit; one that does not is stopped (SIGSTOP)
//             or stuck in the kernel
//   stopping  has to exit within the timeout
#pragma once

#include <chrono>
#include <cstdint>

#include "core/clock.hpp"

namespace ai::policy {

enum class Phase : std::uint8_t { kStarting, kHealthy, kStopping };

struct LivenessSigns {
  Phase phase;
  SteadyTime since;    // of the phase
  SteadyTime turned;   // when its loop last completed a turn
  SteadyTime pinged;   // when it was last pinged
  SteadyTime replied;  // when it last replied
};

struct LivenessTimeouts {
  std::chrono::milliseconds timeout;
  std::chrono::milliseconds stall;

  /// How long a process that was pinged has to reply.
  std::chrono::milliseconds ForReply() const;
};

enum class Liveness : std::uint8_t {
  kAlive,
  kToBePinged,
  kSilent,         // does not reply
  kStalled,        // replies, but its loop completes no turn
  kStuckStarting,  // has not become healthy
  kStuckStopping,  // has not exited
};

Liveness CheckLiveness(const LivenessSigns& signs, const LivenessTimeouts& timeouts,
                       SteadyTime now);

/// The reason for declaring a process dead, as it is logged. Not for one that is alive or to be
/// pinged.
const char* Describe(Liveness diagnosis);

}  // namespace ai::policy
