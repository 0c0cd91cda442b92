// See flow.hpp: what follows from a request that failed.
#include "core/policy/backoff.hpp"
#include "core/policy/blame.hpp"
#include "pg/settings.hpp"
#include "worker/ending.hpp"
#include "worker/flow.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

}  // namespace

void Flow::OnFailure(Request request, const provider::RateLimits& limits, const Failure& failure) {
  if (failure.failure_class == FailureClass::kInvalidReply && request.may_shrink &&
      request.items.size() > 1) {
    AskForLess(std::move(request), limits, failure);
    return;
  }
  const policy::Verdict verdict = request.ticket->Failed(limits, failure, request.failing.time);
  request.ticket.reset();
  if (failure.failure_class == FailureClass::kDeferred) {
    Delay(std::move(request), milliseconds(0));
    return;
  }
  Count(failure);
  Lane& lane = *request.lane;
  const std::vector<RowPtr> rows = RowsOf(request);
  switch (failure.failure_class) {
    case FailureClass::kConfiguration:
      GiveBackUncharged(lane, rows, milliseconds(0));
      Rest(lane, "embedding", failure);
      if (!policy::IsOfEndpoint(failure)) {
        lane.rests_until = clock_.Now() + milliseconds(pg::settings.breaker_pause);
      }
      return;
    case FailureClass::kSuspect:
      if (rows.size() > 1) {
        SplitBetween(std::move(request), rows, milliseconds(0));
        return;
      }
      Guarded(lane, "embedding",
              [&] { lane.vectorizer->GiveUp(lane, lease(), rows, "embedding", failure); });
      End(lane, rows);
      lane.changes = true;  // what came for these rows meanwhile was passed over
      return;
    default:
      OnTrouble(std::move(request), rows, failure, verdict);
  }
}

/// The network, the provider or one of the rows: see core/policy/blame.hpp.
void Flow::OnTrouble(Request request, std::span<const RowPtr> rows, const Failure& failure,
                     const policy::Verdict& verdict) {
  // INVARIANT: never shorter than what makes failures two for the breaker, or a row that is tried
  // again and again would be charged before it opens.
  const policy::Backoff between_tries{milliseconds(1400), std::chrono::seconds(10)};
  Lane& lane = *request.lane;
  const policy::Micros now = SteadyMicros(clock_);
  ++request.failures;
  request.failing.Failed(now);
  lane.failing.Failed(now);
  if (verdict.follows_rows) {
    lane.failing.Blamed(now);
  }
  const policy::FailedRequest failed{failure.failure_class, rows.size(), request.failures, verdict};
  switch (policy::WhatFollows(failed)) {
    case policy::Sequel::kRetry: {
      const auto pause = between_tries.After(request.failures, random_);
      Delay(std::move(request), pause);
      return;
    }
    case policy::Sequel::kSplit:
      SplitBetween(std::move(request), rows,
                   SplitsAtOnce(failed) ? milliseconds(0) : between_tries.After(1, random_));
      return;
    case policy::Sequel::kCharge:
      Charge(lane, rows, failure);
      return;
    case policy::Sequel::kGiveBack:
      // Others come first the next time.
      GiveBackUncharged(lane, rows, kBehindOthers);
      NoteBreaker(lane, *request.route.gate);
  }
}

/// That an open breaker keeps the lane's requests from going is told once for each opening. Jobs
/// have ai.provider_status for it.
void Flow::NoteBreaker(Lane& lane, const Gate& gate) {
  const auto opening = gate.Opened();
  if (lane.jobs || !opening || opening->since == lane.opening) {
    return;
  }
  try {
    RecordOpenBreaker(lane.id, lease_, *opening);
    lane.opening = opening->since;
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    // Somebody is just dropping it, or it is told the next time.
  }
}

void Flow::Charge(Lane& lane, std::span<const RowPtr> rows, const Failure& failure) {
  Guarded(lane, "embedding",
          [&] { lane.vectorizer->TryAgain(lane, lease(), rows, "embedding", failure); });
  End(lane, rows);
  look_ = true;
}

void Flow::GiveBackUncharged(Lane& lane, std::span<const RowPtr> rows, milliseconds delay) {
  Guarded(lane, "embedding", [&] { lane.vectorizer->GiveBack(lane, lease(), rows, delay); });
  End(lane, rows);
  look_ = true;
}

void Flow::Delay(Request request, milliseconds delay) {
  request.not_before = clock_.Now() + delay;
  ++request.lane->delayed;
  delayed_.push_back(std::move(request));
}

/// The limit is our own, and a reply to fewer texts would keep it: neither a row nor the provider
/// is to blame. Further requests of the lane have no more texts than that.
void Flow::AskForLess(Request request, const provider::RateLimits& limits, Failure failure) {
  failure.failure_class = FailureClass::kSuspect;
  request.ticket->Failed(limits, failure, 0);
  request.ticket.reset();
  Count(failure);
  const std::size_t half = request.items.size() / 2;
  request.lane->most_items = std::min(request.lane->most_items.value_or(half), half);
  const auto cut = request.items.begin() + static_cast<std::ptrdiff_t>(half);
  Split(std::move(request), cut, milliseconds(0));
}

/// One of the rows is to blame: each half is asked for itself, so that the others get through.
void Flow::SplitBetween(Request request, std::span<const RowPtr> rows, milliseconds delay) {
  const RowPtr& middle = rows[rows.size() / 2];
  const auto cut = std::find_if(request.items.begin(), request.items.end(),
                                [&](const Item& item) { return item.row == middle; });
  Split(std::move(request), cut, delay);
}

void Flow::Split(Request request, std::vector<Item>::iterator cut, milliseconds delay) {
  Request rest = CutOff(request, cut);
  Delay(std::move(request), delay);
  Delay(std::move(rest), delay);
}

/// The rest becomes a request of its own, with the same past.
Flow::Request Flow::CutOff(Request& request, std::vector<Item>::iterator cut) {
  Request rest{.lane = request.lane,
               .items = {cut, request.items.end()},
               .route = request.route,
               .failures = request.failures,
               .failing = request.failing};
  request.items.erase(cut, request.items.end());
  return rest;
}

}  // namespace ai::worker
