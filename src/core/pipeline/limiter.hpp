// What lets requests to one endpoint with one key go, or not: its rate limits, the pauses that it
// asked for, its circuit breaker. All processes of a server share it.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/policy/endpoint_state.hpp"
#include "core/provider/rate_limits.hpp"

namespace ai::pipeline {

class Limiter;

/// The right to send one request. Its outcome is reported once; if it is not, the request was
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

  /// Whether its outcome decides if the endpoint may be asked again.
  bool is_probe() const { return admission_.probe; }

  /// How many tokens the request has, as we count them.
  void Charge(std::size_t tokens);

  /// With what the provider says of its limits, and how many tokens it counted.
  void Succeeded(const provider::RateLimits& limits, std::optional<std::int64_t> tokens);
  /// And with the time since when its rows fail, 0 if they did not until now.
  policy::Verdict Failed(const provider::RateLimits& limits, const Failure& failure,
                         policy::Micros failing_since);

 private:
  Limiter* limiter_;  // null: the outcome is reported
  policy::Admission admission_;
};

/// That a circuit breaker is open, or half-open, and why.
struct Opening {
  std::int64_t since = 0;  // which opening it is
  Failure failure = {};    // the last one, worded for those who wait
};

class Limiter {
 public:
  Limiter() = default;
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;
  virtual ~Limiter() = default;

  /// How long a role may not ask; nothing if its request may go now. What has no end, as far as is
  /// known, takes a day.
  virtual std::optional<std::chrono::milliseconds> Closed(policy::RoleId role) const = 0;

  /// The circuit breaker is not closed: the endpoint answers nobody.
  virtual bool IsBroken() const = 0;
  /// The same with what is to be told of it; nothing if that is not known.
  virtual std::optional<Opening> Opened() const { return std::nullopt; }

  /// Whether requests have to be few: then they should be full.
  virtual bool IsLimited() const = 0;

  /// About how many requests may go within a time, at least one.
  virtual std::size_t RequestsWithin(std::chrono::milliseconds time) const = 0;

  /// Lets a request of a role go, unless it is closed for it.
  std::optional<Permit> Acquire(policy::RoleId role);

  /// Permits of this process that are out.
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
