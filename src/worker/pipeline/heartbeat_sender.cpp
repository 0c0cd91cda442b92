#include "worker/pipeline/heartbeat_sender.hpp"

#include "worker/process/liveness.hpp"

namespace ai::worker {

HeartbeatResult HeartbeatSender::Send() {
  const pipeline::Tally latest = pipeline_.TakeTally();
  unreported_.rows_done += latest.rows_done;
  unreported_.errors += latest.errors;
  if (!latest.last_error.empty()) {
    unreported_.last_error = latest.last_error;
  }
  const HeartbeatResult result = SendHeartbeat({lease_, unreported_, pipeline_.CountInProgress()});
  if (result.extension == Presence::kThere) {
    unreported_ = {};
  }
  return result;
}

std::optional<HeartbeatResult> HeartbeatSender::SendIfDue() {
  if (clock_.Now() < next_) {
    return std::nullopt;
  }
  next_ = clock_.Now() + HeartbeatInterval();
  try {
    const HeartbeatResult result = Send();
    if (!std::exchange(at_work_, true)) {
      NotePhase(policy::Phase::kHealthy);
    }
    trouble_.Succeeded();
    last_ = clock_.Now();
    return result;
  } catch (const pg::Error& error) {
    trouble_.Failed(error);
    if (pg::MeetsLock(error)) {
      last_ = clock_.Now();
    } else if (clock_.Now() - last_ > CurrentLivenessTimeouts().timeout) {
      throw;
    }
  } catch (const std::exception& error) {
    trouble_.Failed(error);
  }
  return std::nullopt;
}

}  // namespace ai::worker
