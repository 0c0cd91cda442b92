// Whether an endpoint may be asked right now. One gate for each endpoint and key.
//
//   open     requests go through
//   cooling  the provider asked for a pause, or a key or a model was refused: nobody asks until
//   then broken   too many failures in a row: nobody asks for a while, then one request is let
//   through,
//            whose outcome opens the gate or closes it again
#pragma once

#include <chrono>
#include <optional>

#include "core/clock.hpp"
#include "core/failure.hpp"

namespace ai::policy {

struct GateLimits {
  int failures = 5;  // in a row, that break the circuit
  std::chrono::milliseconds broken_for{std::chrono::minutes(5)};
};

class EndpointGate {
 public:
  EndpointGate(const Clock& clock, GateLimits limits) : clock_(&clock), limits_(limits) {}

  void SetLimits(GateLimits limits) { limits_ = limits; }

  /// How long nobody may ask; nothing if a request may go now. A request that may go while the
  /// circuit is broken is the probe: until its outcome is reported, nobody else may ask.
  std::optional<std::chrono::milliseconds> Closed() const;

  void Sent();
  void Succeeded();
  void Failed(const Failure& failure);
  /// The request was given up without an outcome.
  void Cancelled();

  int failures() const { return failures_; }

 private:
  bool broken() const { return failures_ >= limits_.failures; }

  const Clock* clock_;
  GateLimits limits_;
  int failures_ = 0;
  bool probing_ = false;
  SteadyTime closed_until_ = {};
};

}  // namespace ai::policy
