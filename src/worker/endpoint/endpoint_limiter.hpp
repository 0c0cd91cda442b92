// Admits requests to one endpoint with one key: this process's view of the state that all processes
// share.
#pragma once

#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/pipeline/limiter.hpp"
#include "worker/endpoint/shared_providers.hpp"

namespace ai::worker {

/// The monotonic clock shared by all processes of the machine.
inline policy::Micros SteadyMicros(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock.Now().time_since_epoch())
      .count();
}

policy::BreakerRules BreakerSettings();

/// Identifies the role of a request, unique in the whole server.
inline policy::RoleId RoleIdOf(Oid role) {
  return policy::RoleId{MyDatabaseId} << 32 | role;
}

/// What administrators have set for this database in ai.provider.
struct Control {
  bool enabled = true;
  TimestampTz paused_until = 0;  // 0: not paused
  policy::EndpointLimits limits = {};
};

class EndpointLimiter final : public pipeline::Limiter {
 public:
  EndpointLimiter(const Clock& clock, std::uint64_t id_of_endpoint, std::string its_address,
                  std::string its_key_name)
      : id(id_of_endpoint),
        address(std::move(its_address)),
        key_name(std::move(its_key_name)),
        clock_(clock) {}
  const std::uint64_t id;
  const std::string address;
  const std::string key_name;
  Control control = {};
  bool written = false;  // this process has written to its row of ai.provider

  std::optional<std::chrono::milliseconds> BlockedFor(policy::RoleId role) const override;
  bool IsBreakerTripped() const override;
  std::optional<pipeline::Opening> Opened() const override;
  bool IsLimited() const override;
  std::size_t RequestsWithin(std::chrono::milliseconds time) const override;

  /// Runs body on the shared entry, with the lock.
  template <typename Body>
  auto WithEntry(const Body& body) const {
    const policy::Micros now = SteadyMicros(clock_);
    const ProvidersLock lock;
    return body(Entry(now), now);
  }

 protected:
  std::optional<policy::Admission> Admit(policy::RoleId role) override;
  void Charge(policy::Admission& admission, double tokens) override;
  void Succeeded(policy::Admission& admission, const provider::RateLimits& limits,
                 std::optional<std::int64_t> tokens) override;
  policy::Verdict Failed(const policy::Admission& admission, const provider::RateLimits& limits,
                         const Failure& failure, policy::Micros failing_since) override;
  void Cancelled(const policy::Admission& admission) override;

 private:
  SharedEndpoint& Entry(policy::Micros now) const;

  const Clock& clock_;
  mutable int place_ = 0;  // the entry's last known index
};

}  // namespace ai::worker
