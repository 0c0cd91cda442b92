#include "worker/pipeline/beater.hpp"

#include "worker/process/life.hpp"

namespace ai::worker {

BeatResult Beater::Send() {
  const pipeline::Tally latest = pipeline_.TakeTally();
  unreported_.rows_done += latest.rows_done;
  unreported_.errors += latest.errors;
  if (!latest.last_error.empty()) {
    unreported_.last_error = latest.last_error;
  }
  const BeatResult result = Beat({lease_, unreported_, pipeline_.CountInHand()});
  if (result.extension == Presence::kThere) {
    unreported_ = {};
  }
  return result;
}

std::optional<BeatResult> Beater::SendIfDue() {
  if (clock_.Now() < next_) {
    return std::nullopt;
  }
  next_ = clock_.Now() + HeartbeatInterval();
  try {
    const BeatResult result = Send();
    if (!std::exchange(at_work_, true)) {
      NotePhase(policy::Phase::kHealthy);
    }
    trouble_.WentWell();
    last_ = clock_.Now();
    return result;
  } catch (const pg::Error& error) {
    trouble_.Failed(error);
    if (pg::MeetsLock(error)) {
      last_ = clock_.Now();
    } else if (clock_.Now() - last_ > CurrentPatience().timeout) {
      throw;
    }
  } catch (const std::exception& error) {
    trouble_.Failed(error);
  }
  return std::nullopt;
}

}  // namespace ai::worker
