#include "core/pipeline/isolator.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

bool IsShut(const Route& route) {
  return route.BlockedFor().value_or(std::chrono::milliseconds(0)) > kLocked;
}

}  // namespace

/// Whether the queue's rows cannot make progress for a while: requests to its provider are held
/// back, or its target is locked.
bool Isolator::IsBlocked(const Queue& queue) const {
  if (queue.is_idle() || queue.outbox.in_flight() > 0 || queue.has_unread()) {
    return false;
  }
  if (queue.held.has_ready()) {
    return queue.storage.after > clock_.Now();
  }
  if (queue.held.locked_until() != kNever) {
    return true;
  }
  if (queue.outbox.unsent() > 0) {
    return queue.outbox.route() && IsShut(*queue.outbox.route());
  }
  const auto& delayed = queue.outbox.delayed();
  return std::all_of(delayed.begin(), delayed.end(),
                     [](const Request& request) { return IsShut(request.route); });
}

/// Other rows must not wait for them.
void Isolator::ReleaseBlocked() {
  for (auto& [id, queue] : queues_) {
    if (IsBlocked(queue)) {
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
    ReleaseBlocked();
    if (queues_.IsIdle(*queue_)) {
      End();
    }
  }
  planner_.SetIsolating(queue_.has_value(), queue_);  // Begin needs to see what other work there is
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

/// True if nothing else may be claimed: suspects are in progress, or will be once everything else
/// is finished.
bool Isolator::Begin() {
  Queue* queue = claimer_.NextWithSuspects();
  const SteadyTime now = clock_.Now();
  if (queue == nullptr) {
    return false;
  }
  // Other queues get a turn in between, even if all wait for the same provider.
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
  ReleaseBlocked();
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
