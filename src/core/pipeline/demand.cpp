#include "core/pipeline/demand.hpp"

#include <algorithm>

#include "core/pipeline/settings.hpp"

namespace ai::pipeline {
namespace {

/// How long to wait while another worker is claiming.
constexpr std::chrono::milliseconds kBusy{2};

}  // namespace

void Demand::Report(const QueueReport& report, SteadyTime now) {
  const auto in = [now](const std::optional<std::chrono::milliseconds>& time) {
    return time ? now + *time : kNever;
  };
  if (report.first_change) {
    NoteChangesFrom(*report.first_change);
  }
  retry_at_ = in(report.retry_in);
  suspects_at_ = in(report.suspect_in);
  paused_until_ = report.pause_left ? in(report.pause_left) : SteadyTime();
}

void Demand::NoteChangesFrom(Tid tid) {
  from_ = changes_ ? std::min(from_, tid) : tid;
  reported_ = true;
  NoteChanges();
}

SteadyTime Demand::NextRetry(bool has_unreleased) const {
  if (has_unreleased) {
    return retries_after_;
  }
  return retry_at_ == kNever ? kNever : std::max(retry_at_, retries_after_);
}

ClaimRequest Demand::NextRequest(SteadyTime now, bool has_unreleased) const {
  const bool retries = NextRetry(has_unreleased) <= now && !(changes_ && retries_last_);
  return {
      .wanted = retries ? Wanted::kRetries : Wanted::kChanges, .changes = changes_, .from = from_};
}

void Demand::OnClaimed(const Claimed& claimed, Wanted wanted, bool found, SteadyTime now) {
  if (claimed.busy) {
    claim_after_ = now + kBusy;
    return;
  }
  if (claimed.pause_left) {
    paused_until_ = now + *claimed.pause_left;
    return;
  }
  if (wanted == Wanted::kSuspects) {
    suspects_at_ = claimed.more_suspects ? suspects_at_ : kNever;
    return;
  }
  // If nothing can be vacuumed, each scan has to skip all dead entries of the queue, unless it
  // begins where the last scan left something.
  reported_ = reported_ && !claimed.scan_began;
  if (claimed.left_from && !reported_) {
    from_ = *claimed.left_from;
  }
  changes_ = claimed.more_changes || noted_;
  noted_ = false;
  retries_last_ = wanted == Wanted::kRetries;
  if (wanted == Wanted::kRetries) {
    retry_at_ = claimed.more_retries ? retry_at_ : kNever;
    retries_after_ = found ? retries_after_ : now + kLocked;
  }
}

SteadyTime Demand::NextClaim(SteadyTime now, bool has_unreleased) const {
  const SteadyTime wanted = changes_ ? now : NextRetry(has_unreleased);
  return wanted == kNever ? kNever : std::max({wanted, paused_until_, claim_after_});
}

SteadyTime Demand::NextSuspects() const {
  return suspects_at_ == kNever ? kNever : std::max(suspects_at_, paused_until_);
}

}  // namespace ai::pipeline
