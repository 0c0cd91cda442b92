// Admits requests to one endpoint with one key: rate limits, Retry-After, circuit breaker. Shared
// by all processes of a server.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/policy/endpoint_state.hpp"
#include "core/provider/rate_limits.hpp"

namespace ai::pipeline {

class Limiter;

/// Permission to send one request. Its outcome is reported once; otherwise the request counts as
/// cancelled.
class Permit final {
 public:
  Permit(Limiter& limiter, const policy::Admission& admission)
      : limiter_(&limiter), admission_(admission) {}
  Permit(Permit&& other) noexcept
      : limiter_(std::exchange(other.limiter_, nullptr)), admission_(other.admission_) {}
  Permit& operator=(Permit&& other) noexcept {
    std::swap(limiter_, other.limiter_);
    std::swap(admission_, other.admission_);
    return *this;
  }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  ~Permit();

  /// Whether it is the probe of a half-open circuit breaker.
  bool is_probe() const { return admission_.probe; }

  /// The number of tokens in the request, by our count.
  void Charge(std::size_t tokens);

  /// With the rate limits that the provider reported, and its token count.
  void Succeeded(const provider::RateLimits& limits, std::optional<std::int64_t> tokens);
  /// And with the time since when its rows have been failing; 0 if they have not.
  policy::Verdict Failed(const provider::RateLimits& limits, const Failure& failure,
                         policy::Micros failing_since);

 private:
  Limiter* limiter_;  // null: the outcome is reported
  policy::Admission admission_;
};

/// Why a circuit breaker is open or half-open.
struct Opening {
  std::int64_t since = 0;  // identifies the opening
  Failure failure = {};    // the last one, worded for users
};

class Limiter {
 public:
  Limiter() = default;
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;
  virtual ~Limiter() = default;

  /// For how long requests of a role are held back; nothing if one may be sent now. If the end is
  /// not known, a day.
  virtual std::optional<std::chrono::milliseconds> BlockedFor(policy::RoleId role) const = 0;

  /// Whether the circuit breaker is open or half-open.
  virtual bool IsBreakerTripped() const = 0;
  /// The same with the reason; nothing if that is not known.
  virtual std::optional<Opening> Opened() const { return std::nullopt; }

  /// Whether requests are rate-limited, so that they should be full.
  virtual bool IsLimited() const = 0;

  /// About how many requests may be sent within a time; at least one.
  virtual std::size_t RequestsWithin(std::chrono::milliseconds time) const = 0;

  /// A permit for a request of a role, unless requests are held back.
  std::optional<Permit> Acquire(policy::RoleId role);

  /// Permits held by this process.
  std::size_t in_flight() const { return in_flight_; }

 protected:
  friend class Permit;

  virtual std::optional<policy::Admission> Admit(policy::RoleId role) = 0;
  virtual void Charge(policy::Admission& admission, double tokens) = 0;
  virtual void Succeeded(policy::Admission& admission, const provider::RateLimits& limits,
                         std::optional<std::int64_t> tokens) = 0;
  virtual policy::Verdict Failed(const policy::Admission& admission,
                                 const provider::RateLimits& limits, const Failure& failure,
                                 policy::Micros failing_since) = 0;
  virtual void Cancelled(const policy::Admission& admission) = 0;

 private:
  std::size_t in_flight_ = 0;
};

}  // namespace ai::pipeline
