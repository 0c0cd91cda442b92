// What is pending in the database for one queue, as far as this worker knows.
#pragma once

#include <limits>

#include "core/clock.hpp"
#include "core/pipeline/backlog.hpp"

namespace ai::pipeline {

/// Not before the next event.
inline constexpr SteadyTime kNever = SteadyTime::max();

class Demand final {
 public:
  /// The result of a poll.
  void Report(const QueueReport& report, SteadyTime now);
  /// There may be changes that were skipped while their rows were in progress.
  void NoteChanges() { changes_ = noted_ = true; }
  /// There are changes at an unknown position.
  void NoteNamed() { NoteChangesFrom({}); }
  void PauseUntil(SteadyTime time) { paused_until_ = time; }
  /// Nothing is pending.
  void Clear() { *this = {}; }

  /// What to claim now: changes and retries alternate if there are both. If rows could not be
  /// released, a claim for retries is due, which tries that again.
  ClaimRequest NextRequest(SteadyTime now, bool has_unreleased) const;
  void OnClaimed(const Claimed& claimed, Wanted wanted, bool found, SteadyTime now);

  /// When rows may be claimed next, as far as the database is concerned.
  SteadyTime NextClaim(SteadyTime now, bool has_unreleased = false) const;
  SteadyTime NextSuspects() const;

  bool has_changes() const { return changes_; }
  bool is_paused(SteadyTime now) const { return paused_until_ > now; }
  bool has_suspects() const { return suspects_at_ != kNever; }
  bool is_empty() const { return !changes_ && retry_at_ == kNever && suspects_at_ == kNever; }

 private:
  void NoteChangesFrom(Tid tid);
  SteadyTime NextRetry(bool has_unreleased) const;

  bool changes_ = false;
  bool noted_ = false;     // since the last claim
  bool reported_ = false;  // a position of changes, since the current scan began
  Tid from_ = {};
  SteadyTime retry_at_ = kNever;
  SteadyTime suspects_at_ = kNever;
  SteadyTime paused_until_ = {};
  SteadyTime claim_after_ = {};    // another worker was claiming
  SteadyTime retries_after_ = {};  // the rows that are due are locked
  bool retries_last_ = false;      // the last claim was for retries
};

}  // namespace ai::pipeline
