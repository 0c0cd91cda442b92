#include "core/policy/liveness.hpp"

#include <algorithm>

namespace ai::policy {

namespace {

constexpr std::chrono::milliseconds kMinForReply{1000};
constexpr int kReplyShare = 6;  // of the timeout

Liveness CheckHealthy(const LivenessSigns& signs, const LivenessTimeouts& timeouts,
                      SteadyTime now) {
  const auto quiet = now - signs.turned;
  if (quiet <= timeouts.timeout) {
    return Liveness::kAlive;
  }
  if (quiet > std::max(timeouts.stall, timeouts.timeout)) {
    return Liveness::kStalled;
  }
  if (signs.pinged <= signs.turned) {
    return Liveness::kToBePinged;
  }
  if (now - signs.pinged <= timeouts.ForReply()) {
    return Liveness::kAlive;
  }
  return signs.replied >= signs.pinged ? Liveness::kToBePinged : Liveness::kSilent;
}

}  // namespace

std::chrono::milliseconds LivenessTimeouts::ForReply() const {
  return std::max(timeout / kReplyShare, kMinForReply);
}

Liveness CheckLiveness(const LivenessSigns& signs, const LivenessTimeouts& timeouts,
                       SteadyTime now) {
  const bool late = now - signs.since > timeouts.timeout;
  switch (signs.phase) {
    case Phase::kStarting:
      return late ? Liveness::kStuckStarting : Liveness::kAlive;
    case Phase::kStopping:
      return late ? Liveness::kStuckStopping : Liveness::kAlive;
    case Phase::kHealthy:
      break;
  }
  return CheckHealthy(signs, timeouts, now);
}

const char* Describe(Liveness diagnosis) {
  switch (diagnosis) {
    case Liveness::kSilent:
      return "process does not respond";
    case Liveness::kStalled:
      return "process responds but makes no progress";
    case Liveness::kStuckStarting:
      return "process did not become healthy";
    case Liveness::kStuckStopping:
      return "process did not exit";
    case Liveness::kAlive:
    case Liveness::kToBePinged:
      break;
  }
  return "process is alive";
}

}  // namespace ai::policy
