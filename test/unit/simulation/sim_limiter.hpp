// The limiter of a simulated provider: the real rules, in memory that all workers share.
#pragma once

#include "unit/simulation/worker_state.hpp"

namespace ai::simulation {

class SimLimiter final : public pipeline::Limiter {
 public:
  SimLimiter(World& world, std::size_t provider, WorkerState& worker)
      : world_(world), provider_(provider), worker_(worker) {}

  std::optional<milliseconds> BlockedFor(policy::RoleId role) const override;
  bool IsBreakerTripped() const override;
  bool IsLimited() const override;
  std::size_t RequestsWithin(milliseconds time) const override;

 protected:
  std::optional<policy::Admission> Admit(policy::RoleId role) override;
  void Charge(policy::Admission& admission, double tokens) override;
  void Succeeded(policy::Admission& admission, const provider::RateLimits& limits,
                 std::optional<std::int64_t> tokens) override;
  policy::Verdict Failed(const policy::Admission& admission, const provider::RateLimits& limits,
                         const Failure& failure, policy::Micros failing_since) override;
  void Cancelled(const policy::Admission& admission) override;

 private:
  policy::EndpointState& state() const { return world_.providers[provider_].endpoint; }
  policy::Micros now() const;

  World& world_;
  std::size_t provider_;
  WorkerState& worker_;
};

}  // namespace ai::simulation
