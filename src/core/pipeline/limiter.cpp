#include "core/pipeline/limiter.hpp"

namespace ai::pipeline {

std::optional<Permit> Limiter::Acquire(policy::RoleId role) {
  const auto admission = Admit(role);
  if (!admission) {
    return std::nullopt;
  }
  ++in_flight_;
  return std::optional<Permit>(std::in_place, *this, *admission);
}

Permit::~Permit() {
  if (limiter_ != nullptr) {
    --limiter_->in_flight_;
    limiter_->Cancelled(admission_);
  }
}

void Permit::Charge(std::size_t tokens) {
  limiter_->Charge(admission_, static_cast<double>(tokens));
}

void Permit::Succeeded(const provider::RateLimits& limits, std::optional<std::int64_t> tokens) {
  Limiter& limiter = *std::exchange(limiter_, nullptr);
  --limiter.in_flight_;
  limiter.Succeeded(admission_, limits, tokens);
}

policy::Verdict Permit::Failed(const provider::RateLimits& limits, const Failure& failure,
                               policy::Micros failing_since) {
  Limiter& limiter = *std::exchange(limiter_, nullptr);
  --limiter.in_flight_;
  return limiter.Failed(admission_, limits, failure, failing_since);
}

}  // namespace ai::pipeline
