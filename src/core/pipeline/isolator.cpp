#include "core/pipeline/isolator.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

bool IsShut(const Route& route) {
  return route.Closed().value_or(std::chrono::milliseconds(0)) > kLocked;
}

}  // namespace

/// Whether nothing will come of what the queue has in hand for a while: its provider may not be
/// asked, or somebody has locked its target.
bool Isolator::IsHeldUp(const Queue& queue) const {
  if (queue.is_idle() || queue.outbox.in_flight() > 0 || queue.has_unread()) {
    return false;
  }
  if (queue.hand.has_ready()) {
    return queue.storage.after > clock_.Now();
  }
  if (queue.hand.locked_until() != kNever) {
    return true;
  }
  if (queue.outbox.unsent() > 0) {
    return queue.outbox.route() && IsShut(*queue.outbox.route());
  }
  const auto& delayed = queue.outbox.delayed();
  return std::all_of(delayed.begin(), delayed.end(),
                     [](const Request& request) { return IsShut(request.route); });
}

/// Others must not wait for them.
void Isolator::LetGoOfHeldUp() {
  for (auto& [id, queue] : queues_) {
    if (IsHeldUp(queue)) {
      leases_.Drop(queue);
      queue.back_off.AtLeast(clock_.Now() + kLocked);
    }
  }
}

bool Isolator::IsDue() const {
  return planner_.isolating() && (queue_ ? queues_.IsIdle(*queue_) : queues_.all_idle());
}

void Isolator::Run() {
  if (queue_) {
    LetGoOfHeldUp();
    if (queues_.IsIdle(*queue_)) {
      End();
    }
  }
  planner_.SetIsolating(queue_.has_value(), queue_);  // Begin has to see what else there is to do
  const bool isolating = queue_ || Begin();
  planner_.SetIsolating(isolating, queue_);
  if (!isolating) {
    peers_.LeaveIsolation();
  }
}

void Isolator::End() {
  const SteadyTime now = clock_.Now();
  after_ = now + (now - since_);
  const std::uint64_t claims = claimer_.claims();
  std::erase_if(claims_before_, [&](const auto& entry) { return entry.second != claims; });
  claims_before_[*queue_] = claims;
  queue_.reset();
  peers_.LeaveIsolation();
}

/// True if nothing else may be claimed: suspects are in hand, or will be as soon as all else is
/// done.
bool Isolator::Begin() {
  Queue* queue = claimer_.NextWithSuspects();
  const SteadyTime now = clock_.Now();
  if (queue == nullptr) {
    return false;
  }
  // Others have a turn in between, also if all wait for the same provider.
  const SteadyTime others = claimer_.NextClaim();
  const auto before = claims_before_.find(queue->id);
  const bool others_come_first =
      before != claims_before_.end() && before->second == claimer_.claims();
  if (others != kNever && (others_come_first || now < after_)) {
    planner_.HoldSuspects(std::max(others, std::min(after_, now + kLocked)));
    return false;
  }
  if (!peers_.EnterIsolation()) {
    planner_.HoldSuspects(now + kLocked);
    return false;
  }
  LetGoOfHeldUp();
  if (!queues_.all_idle()) {
    return true;
  }
  if (!claimer_.ClaimSuspects(*queue)) {
    planner_.HoldSuspects(clock_.Now() + kLocked);
    return false;
  }
  queue_ = queue->id;
  since_ = clock_.Now();
  return true;
}

}  // namespace ai::pipeline
