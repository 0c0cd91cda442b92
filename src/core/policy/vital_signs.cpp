#include "core/policy/vital_signs.hpp"

#include <algorithm>

namespace ai::policy {

namespace {

constexpr std::chrono::milliseconds kLeastForAnswer{1000};
constexpr int kAnswerShare = 6;  // of the timeout

Diagnosis DiagnoseHealthy(const VitalSigns& signs, const Patience& patience, SteadyTime now) {
  const auto quiet = now - signs.turned;
  if (quiet <= patience.timeout) {
    return Diagnosis::kWell;
  }
  if (quiet > std::max(patience.stall, patience.timeout)) {
    return Diagnosis::kStalled;
  }
  if (signs.asked <= signs.turned) {
    return Diagnosis::kToBeAsked;
  }
  if (now - signs.asked <= patience.ForAnswer()) {
    return Diagnosis::kWell;
  }
  return signs.answered >= signs.asked ? Diagnosis::kToBeAsked : Diagnosis::kSilent;
}

}  // namespace

std::chrono::milliseconds Patience::ForAnswer() const {
  return std::max(timeout / kAnswerShare, kLeastForAnswer);
}

Diagnosis Diagnose(const VitalSigns& signs, const Patience& patience, SteadyTime now) {
  const bool late = now - signs.since > patience.timeout;
  switch (signs.phase) {
    case Phase::kStarting:
      return late ? Diagnosis::kStuckStarting : Diagnosis::kWell;
    case Phase::kStopping:
      return late ? Diagnosis::kStuckStopping : Diagnosis::kWell;
    case Phase::kHealthy:
      break;
  }
  return DiagnoseHealthy(signs, patience, now);
}

const char* Describe(Diagnosis diagnosis) {
  switch (diagnosis) {
    case Diagnosis::kSilent:
      return "gives no sign of life";
    case Diagnosis::kStalled:
      return "lives, but makes no progress";
    case Diagnosis::kStuckStarting:
      return "was started and did not get to work";
    case Diagnosis::kStuckStopping:
      return "was to end and did not";
    case Diagnosis::kWell:
    case Diagnosis::kToBeAsked:
      break;
  }
  return "is well";
}

}  // namespace ai::policy
