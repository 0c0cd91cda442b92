#include "unit/simulation/sim_limiter.hpp"

#include <cmath>

namespace ai::simulation {
namespace {

constexpr policy::BreakerRules kRules{
    .failures = 5, .pause = 60 * policy::kSecond, .apart = policy::kSecond};

}  // namespace

policy::Micros SimLimiter::now() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(world_.now().time_since_epoch())
      .count();
}

std::optional<milliseconds> SimLimiter::BlockedFor(policy::RoleId role) const {
  const policy::Availability standing = state().Check(kRules, now(), role);
  if (standing.obstacle == policy::Obstacle::kNone) {
    return std::nullopt;
  }
  constexpr milliseconds kNoEnd = std::chrono::hours(24);
  return std::min(kNoEnd, milliseconds(standing.wait / 1000) + milliseconds(1));
}

bool SimLimiter::IsBreakerTripped() const {
  return state().breaker.tripped;
}

bool SimLimiter::IsLimited() const {
  return state().pace.PerSecond(now()) > 0;
}

std::size_t SimLimiter::RequestsWithin(milliseconds time) const {
  return static_cast<std::size_t>(
      std::ceil(state().RequestsWithin(time.count() * 1000, kRules, now())));
}

std::optional<policy::Admission> SimLimiter::Admit(policy::RoleId role) {
  return state().Admit(static_cast<std::int32_t>(worker_.lease), kRules, now(), role);
}

void SimLimiter::Charge(policy::Admission& admission, double tokens) {
  state().Charge(admission, tokens, now());
}

void SimLimiter::Succeeded(policy::Admission& admission, const provider::RateLimits& limits,
                           std::optional<std::int64_t> tokens) {
  state().pace.ApplyAdvertised(limits);
  if (tokens) {
    state().Charge(admission, static_cast<double>(*tokens), now());
  }
  state().Succeeded(admission);
}

policy::Verdict SimLimiter::Failed(const policy::Admission& admission,
                                   const provider::RateLimits& limits, const Failure& failure,
                                   policy::Micros failing_since) {
  state().pace.ApplyAdvertised(limits);
  return state().Failed(admission, failure, failing_since, kRules, now());
}

void SimLimiter::Cancelled(const policy::Admission& admission) {
  state().Cancelled(admission, now());
}

}  // namespace ai::simulation
