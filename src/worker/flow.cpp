// See flow.hpp: what all stations need, and the business of the loop around them.
#include "worker/flow.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/ending.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTakeAgain{2};  // after another worker has taken rows
constexpr milliseconds kRest = std::chrono::seconds(10);

}  // namespace

Flow::Flow(std::string lease) : lease_(std::move(lease)) {
  const Datum uuid =
      pg::Call([this] { return DirectFunctionCall1(uuid_in, CStringGetDatum(lease_.c_str())); });
  lease_uuid_ = *DatumGetUUIDP(uuid);
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
    if (const auto closed = request.route.gate->Closed()) {
      at_most(*closed);
    } else if (FreeSlots(request.route.gate) > 0) {
      until(request.not_before);
    }
  }
  if (look_at_whole_) {
    until(next_whole_look_);
  }
  for (const auto& [id, lane] : lanes_) {
    if (!lane.ready.empty()) {
      until(lane.store_after);
    }
    if (!lane.unsent.empty() && lane.route) {
      at_most(lane.route->gate->Closed().value_or(wait));
    }
    const bool room = SlotsFor(lane) > 0 && WantsMore(lane) && held_bytes_ < kMostHeldBytes;
    if (lane.rests_until > now) {
      until(lane.rests_until);
    } else if (IsBarred(lane)) {
      at_most(UntilTake(lane));
    } else if (room && (lane.changes || lane.owes_rows || !lane.unread.empty())) {
      at_most(take_again_soon_ ? kTakeAgain : milliseconds(0));
    } else if (room && lane.next_retry) {
      until(std::max(*lane.next_retry, now + (take_again_soon_ ? kTakeAgain : milliseconds(0))));
    }
  }
  return {in_flight_.empty() ? -1 : hint.fd, wait};
}

void Flow::GiveBack() {
  transport().CancelAll();
  for (auto& [id, lane] : lanes_) {
    if (lane.vectorizer == nullptr || lane.idle()) {
      continue;
    }
    try {
      lane.vectorizer->GiveBackAll(lease());
    } catch (const pg::Error& error) {
      if (pg::EndsProcess(error)) {
        throw;
      }
    }
  }
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
    }
  }
  std::erase_if(lane.held, [](const RowPtr& row) { return row->over; });
}

void Flow::Rest(Lane& lane, std::string_view step, const Failure& failure) {
  Count(failure);
  lane.rests_until = clock_.Now() + std::min(kRest, milliseconds(pg::settings.breaker_pause));
  Record(lane, step, failure);
}

/// For who looks at the errors of the vectorizer. The same one is said once, until all is well.
void Flow::Record(Lane& lane, std::string_view step, const Failure& failure) {
  if (failure.message != lane.last_error) {
    lane.last_error = failure.message;
    RecordError(lane.id, lease_, step, failure);
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
  lane.in_flight = lane.delayed = 0;
  End(lane, std::vector<RowPtr>(lane.held));
  lane.unread.clear();
  lane.unsent.clear();
  lane.ready.clear();
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
    if (pg::EndsProcess(error)) {
      throw;
    }
    lane.owes_rows = error.sqlstate() != ERRCODE_UNDEFINED_TABLE;
  }
  lane.vectorizer.reset();
}

void Flow::ReturnRows(Lane& lane) {
  lane.vectorizer->GiveBackAll(lease());
  lane.owes_rows = false;
  look_ = true;
}

}  // namespace ai::worker
