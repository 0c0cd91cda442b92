// See flow.hpp: what all stations need, and the business of the loop around them.
#include "worker/flow.hpp"

#include "core/policy/backoff.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/ending.hpp"
#include "worker/owner_share.hpp"
#include "worker/process.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTakeAgain{2};   // after another worker has taken rows
constexpr milliseconds kForOthers{50};  // while an owner has to wait for others
// What was embedded before an error in writing is embedded again after each rest.
constexpr policy::Backoff kRest{std::chrono::seconds(10), std::chrono::minutes(1)};

}  // namespace

Flow::Flow(std::string lease) : lease_(std::move(lease)) {
  const Datum uuid =
      pg::Call([this] { return DirectFunctionCall1(uuid_in, CStringGetDatum(lease_.c_str())); });
  lease_uuid_ = *DatumGetUUIDP(uuid);
}

/// How long until rows of a lane are to be taken or read; nothing if only others can tell.
std::optional<milliseconds> Flow::NextTake(const Lane& lane, SteadyTime now) const {
  const milliseconds at_once = take_again_soon_ ? kTakeAgain : milliseconds(0);
  const auto until = [&](SteadyTime when) {
    return std::max(std::chrono::duration_cast<milliseconds>(when - now), at_once) +
           milliseconds(1);
  };
  if (lane.rests_until > now) {
    return until(lane.rests_until);
  }
  if (IsBarred(lane)) {
    return UntilTake(lane);
  }
  if (IsDue(lane, now) && !MayServe(lane)) {
    return ServesOwner(lane.owner) ? kForOthers : kLocked;
  }
  const bool room = SlotsFor(lane) > 0 && WantsMore(lane) && held_bytes_ < kMostHeldBytes;
  if (room && (lane.owes_rows || !lane.unread.empty())) {
    return at_once;
  }
  if (isolating_) {
    return std::nullopt;
  }
  if (lane.paused_until > now) {
    return until(lane.paused_until);
  }
  if (room && lane.changes) {
    return at_once;
  }
  std::optional<milliseconds> next;
  if (room && lane.next_retry) {
    next = until(*lane.next_retry);
  }
  if (lane.next_suspect) {
    const milliseconds suspects =
        until(std::max({*lane.next_suspect, isolate_after_, isolate_not_before_}));
    next = std::min(next.value_or(suspects), suspects);
  }
  return next;
}

WaitFor Flow::NextWait() {
  const SteadyTime now = clock_.Now();
  const http::WaitHint hint = transport().NextWait();
  milliseconds wait(pg::settings.poll_interval);
  const auto at_most = [&](milliseconds limit) { wait = std::clamp(limit, milliseconds(0), wait); };
  const auto until = [&](SteadyTime when) {
    at_most(std::chrono::duration_cast<milliseconds>(when - now) + milliseconds(1));
  };
  if (hint.timeout) {
    at_most(*hint.timeout);
  }
  if (look_ || local_.busy()) {
    at_most(milliseconds(0));
  }
  for (const Request& request : delayed_) {
    if (const auto closed = request.route.Closed()) {
      at_most(*closed);
    } else if (HasSlot(request)) {
      until(request.not_before);
    }
  }
  if (look_at_whole_) {
    until(next_whole_look_);
  }
  if (isolating_ && (isolated_ != nullptr ? isolated_->idle() : AllIdle())) {
    at_most(milliseconds(0));
  }
  for (const auto& [id, lane] : lanes_) {
    if (!lane.ready.empty()) {
      until(MayStore(lane) ? lane.store_after : std::max(lane.store_after, now + kForOthers));
    }
    if (!lane.locked.empty()) {
      until(lane.locked_until);
    }
    if (!lane.in_doubt.empty() && !lane.has_untried()) {
      at_most(milliseconds(0));
    }
    if (!lane.unsent.empty() && lane.route) {
      at_most(lane.route->Closed().value_or(wait));
    }
    if (const auto next = NextTake(lane, now)) {
      at_most(*next);
    }
    if (lane.usage != Usage()) {
      until(lane.count_after);
    }
  }
  return {in_flight_.empty() ? -1 : hint.fd, wait};
}

void Flow::GiveBack() {
  transport().CancelAll();
  CountAllUsage();
  for (auto& [id, lane] : lanes_) {
    // Rows that were just being written are in hand, but at no station.
    if (lane.vectorizer == nullptr || (lane.idle() && lane.held.empty() && lane.strays.empty())) {
      continue;
    }
    try {
      lane.vectorizer->GiveBackAll(lease());
    } catch (const pg::Error& error) {
      if (EndsProcess(error)) {
        throw;
      }
    }
  }
}

void Flow::FreeSlots() {
  for (auto& [id, lane] : lanes_) {
    const std::size_t used = lane.in_flight + lane.delayed;
    if (lane.unsent.empty() && lane.unread.empty() && used < lane.slots) {
      lane.slots = lane.jobs ? used : request_slots_.Keep(id, used, 0);
    }
  }
}

InHand Flow::CountInHand() const {
  InHand all;
  all.requests = in_flight_.size() + (local_.busy() ? 1 : 0);
  std::size_t most = 0;
  for (const auto& [id, lane] : lanes_) {
    const std::size_t rows = lane.held.size() + lane.unread.size();
    all.rows += rows;
    if (rows > most) {
      most = rows;
      all.vectorizer = lane.jobs ? 0 : id;
    }
  }
  return all;
}

Tally Flow::TakeTally() {
  return std::exchange(tally_, {});
}

void Flow::Count(const Failure& failure) {
  ++tally_.errors;
  tally_.last_error = failure.message;
}

void Flow::End(Lane& lane, std::span<const RowPtr> rows) {
  for (const RowPtr& row : rows) {
    if (!row->over) {
      row->over = true;
      held_bytes_ -= row->bytes;
      lane.held_bytes -= row->bytes;
    }
  }
  std::erase_if(lane.held, [](const RowPtr& row) { return row->over; });
}

void Flow::Rest(Lane& lane, std::string_view step, const Failure& failure) {
  Count(failure);
  lane.rests_until = clock_.Now() + std::min(kRest.After(++lane.rests, random_),
                                             milliseconds(pg::settings.breaker_pause));
  if (failure.message != lane.last_error) {
    lane.last_error = failure.message;
    try {
      if (lane.jobs) {
        NoteJobError(lane, failure);
      } else {
        RecordError(lane.id, lease_, step, failure);
      }
    } catch (const pg::Error& error) {
      if (EndsProcess(error)) {
        throw;
      }
      lane.last_error.clear();  // somebody is just dropping it, or it is told the next time
    }
  }
}

/// Somebody has renamed a table or a column since the statements were made: they are made anew, and
/// it is no error.
bool Flow::IsRenamed(Lane& lane, const pg::Error& error) {
  if (!pg::MissesName(error) || lane.vectorizer == nullptr) {
    return false;
  }
  try {
    return lane.vectorizer->IsOutdated();
  } catch (const pg::Error& another) {
    if (EndsProcess(another)) {
      throw;
    }
    return false;
  }
}

/// Lets go of all that the lane has in hand, in memory only.
void Flow::Forget(Lane& lane) {
  for (auto request = in_flight_.begin(); request != in_flight_.end();) {
    if (request->second.lane == &lane) {
      transport().Cancel(http::RequestId(request->first));
      request = in_flight_.erase(request);
    } else {
      ++request;
    }
  }
  delayed_.remove_if([&](const Request& request) { return request.lane == &lane; });
  if (local_.lane() == &lane) {
    local_.Forget();
  }
  if (isolated_ == &lane) {
    EndIsolation();
  }
  lane.in_flight = lane.delayed = 0;
  lane.slots = lane.jobs ? 0 : request_slots_.Keep(lane.id, 0, 0);
  End(lane, std::vector<RowPtr>(lane.held));
  lane.unread.clear();
  lane.strays.clear();
  lane.unsent.clear();
  lane.ready.clear();
  lane.locked.clear();
  lane.in_doubt.clear();
  lane.route.reset();
  lane.walk = {};
  lane.owes_rows = lane.owes_rows || lane.vectorizer != nullptr;
}

void Flow::ForgetAll() {
  for (auto& [id, lane] : lanes_) {
    Forget(lane);
  }
}

/// Drops the lane and gives its rows back at once, or when it is used again.
void Flow::Drop(Lane& lane) {
  Forget(lane);
  if (lane.vectorizer == nullptr) {
    return;
  }
  try {
    ReturnRows(lane);
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    // A table of work that has no other name is gone, with the rows in it.
    lane.owes_rows = !pg::MissesName(error) || IsRenamed(lane, error);
  }
  lane.vectorizer.reset();
}

void Flow::ReturnRows(Lane& lane) {
  lane.vectorizer->GiveBackAll(lease());
  lane.owes_rows = false;
  look_ = true;
}

}  // namespace ai::worker
