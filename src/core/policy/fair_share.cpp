// See fair_share.hpp.
#include "core/policy/fair_share.hpp"

#include <algorithm>
#include <cmath>

namespace ai::policy {
namespace {

constexpr double kLeastPriority = -100;
constexpr double kMaxPriority = 200;
constexpr double kDoubling = 100;

}  // namespace

double WeightOf(std::int32_t priority) {
  return std::exp2(std::clamp<double>(priority, kLeastPriority, kMaxPriority) / kDoubling);
}

/// A member behind the current virtual time re-enters at it.
FairShare::Turn FairShare::Level::TurnOf(std::int64_t member) const {
  const auto found = turns_.find(member);
  return found == turns_.end() ? Turn{now_, 0}
                               : Turn{std::max(found->second.time, now_), found->second.served};
}

void FairShare::Level::Charge(std::int64_t member, double amount) {
  now_ = TurnOf(member).time;
  turns_[member] = {now_ + amount, ++served_};
  if (turns_.size() > kMaxOwners) {
    std::erase_if(turns_, [this](const auto& entry) { return entry.second.time < now_; });
  }
}

FairShare::Turn FairShare::TurnOf(const Contender& contender) const {
  const auto owner = owners_.find(contender.owner);
  return owner == owners_.end() ? Turn{} : owner->second.TurnOf(contender.queue);
}

std::optional<std::size_t> FairShare::Next(std::span<const Contender> contenders) const {
  const Contender* best = nullptr;
  for (const Contender& contender : contenders) {
    const bool is_next = best == nullptr ||
                         (contender.owner == best->owner ? TurnOf(contender) < TurnOf(*best)
                                                         : between_owners_.TurnOf(contender.owner) <
                                                               between_owners_.TurnOf(best->owner));
    best = is_next ? &contender : best;
  }
  return best == nullptr ? std::nullopt : std::optional<std::size_t>(best - contenders.data());
}

void FairShare::Charge(const Contender& served, double cost) {
  cost = std::max(cost, 1.0);
  between_owners_.Charge(served.owner, cost / WeightOf(served.granted.value_or(served.priority)));
  owners_[served.owner].Charge(served.queue, cost / WeightOf(served.priority));
  ForgetIdle();
}

/// The order of an owner's queues survives short idle periods, or its first queue would always be
/// first again; but not forever.
void FairShare::ForgetIdle() {
  if (owners_.size() > kMaxOwners) {
    std::erase_if(owners_, [this](const auto& entry) { return !between_owners_.Has(entry.first); });
  }
}

}  // namespace ai::policy
