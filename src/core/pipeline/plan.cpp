#include "core/pipeline/plan.hpp"

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

/// A claim due within this time is waited for.
constexpr milliseconds kSoon{3};

}  // namespace

Plan Planner::For(const Queue& queue, SteadyTime now) const {
  return {.claim = Claim(queue, now),
          .suspects = Suspects(queue, now),
          .send = Send(queue, now),
          .store = Store(queue, now),
          .report = queue.meter.usage == Usage() ? kNever : queue.meter.report_after};
}

/// If requests are rate-limited, batches are filled before they are sent, except for a probe;
/// otherwise they are sent as they are.
bool Planner::WantsMore(const Queue& queue) const {
  const Outbox& outbox = queue.outbox;
  if (outbox.unsent() == 0) {
    return true;
  }
  return outbox.route() && outbox.unsent() < outbox.BatchSize(queue.source->traits()) &&
         outbox.route()->limiter->IsLimited() && !outbox.route()->limiter->IsBreakerTripped();
}

/// Until when nothing can be sent, so that claiming is pointless. The route is looked up again from
/// time to time: another key may not be held back.
SteadyTime Planner::SendBlockedUntil(const Queue& queue, SteadyTime now) const {
  const auto& route = queue.outbox.route();
  const SteadyTime known_until = queue.outbox.route_found() + settings_.heartbeat_interval;
  if (!route || now >= known_until) {
    return now;
  }
  const milliseconds closed = route->BlockedFor().value_or(milliseconds(0));
  return closed > kAhead ? std::min(now + closed - kAhead, known_until) : now;
}

SteadyTime Planner::Claim(const Queue& queue, SteadyTime now) const {
  if (queue.must_release) {
    return std::max(now, queue.back_off.until);
  }
  SteadyTime at = queue.has_unread() ? now
                  : isolating_       ? kNever
                                     : queue.demand.NextClaim(now, queue.has_unreleased());
  const bool has_room =
      capacity_.FreeFor(queue) > 0 && WantsMore(queue) && queues_.memory().bytes < kMaxHeldBytes;
  if (at == kNever || !has_room) {
    return kNever;
  }
  at = std::max({at, queue.back_off.until, SendBlockedUntil(queue, now)});
  return at > now ? at : owners_.MayClaim(queue, now);
}

SteadyTime Planner::Suspects(const Queue& queue, SteadyTime now) const {
  const SteadyTime at = queue.demand.NextSuspects();
  if (at == kNever || isolating_ || queue.must_release) {
    return kNever;
  }
  return std::max({at, queue.back_off.until, suspects_after_, SendBlockedUntil(queue, now)});
}

bool Planner::WaitsForMore(const Queue& queue, SteadyTime now) const {
  return queue.outbox.unsent() > 0 && WantsMore(queue) && Claim(queue, now) <= now + kSoon;
}

SteadyTime Planner::Resend(const Queue& queue, SteadyTime now) const {
  SteadyTime at = kNever;
  for (const Request& request : queue.outbox.delayed()) {
    if (const auto blocked = request.route.BlockedFor()) {
      at = std::min(at, std::max(now + *blocked, request.not_before));
    } else if (capacity_.HasRoom(queue, request)) {
      at = std::min(at, request.not_before);
    }
  }
  return at;
}

SteadyTime Planner::Send(const Queue& queue, SteadyTime now) const {
  const Outbox& outbox = queue.outbox;
  SteadyTime at = Resend(queue, now);
  if (outbox.unsent() == 0) {
    return at;
  }
  if (queue.source->traits().provider == nullptr) {
    return model_.busy() ? at : now;
  }
  if (capacity_.FreeFor(queue) == 0 || outbox.used() >= outbox.kept_requests) {
    return at;
  }
  if (!outbox.route()) {
    return now;
  }
  if (const auto blocked = outbox.route()->BlockedFor()) {
    return std::min(at, now + *blocked);
  }
  return WaitsForMore(queue, now) ? std::min(at, now + kSoon) : now;
}

SteadyTime Planner::Store(const Queue& queue, SteadyTime now) const {
  const HeldRows& held = queue.held;
  if (held.has_unexplained() && !queue.has_untried()) {
    return now;
  }
  SteadyTime at = held.locked_until();
  if (held.has_ready()) {
    at = std::min(at, std::max(queue.storage.after, owners_.MayStore(queue, now)));
  }
  return at;
}

}  // namespace ai::pipeline
