// A request that a gate has let through.
#pragma once

#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/policy/endpoint_state.hpp"
#include "core/provider/rate_limits.hpp"

namespace ai::worker {

class Gate;

/// A request that was let through. Its outcome is told once; if it is not, the request was
/// cancelled.
class Ticket final {
 public:
  Ticket(Gate& gate, const policy::Passage& passage);
  Ticket(Ticket&& other) noexcept
      : gate_(std::exchange(other.gate_, nullptr)), passage_(other.passage_) {}
  Ticket& operator=(Ticket&& other) noexcept {
    std::swap(gate_, other.gate_);
    std::swap(passage_, other.passage_);
    return *this;
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket();

  /// Its outcome decides whether the endpoint may be asked again.
  bool probe() const { return passage_.probe; }

  /// How many tokens it has, as we count them.
  void Charge(std::size_t tokens);

  /// With what the provider says of its limits, and how many tokens it counted.
  void Succeeded(const provider::RateLimits& limits, std::optional<std::int64_t> tokens);
  /// And with the time since when its rows fail, 0 if they did not until now.
  policy::Verdict Failed(const provider::RateLimits& limits, const Failure& failure,
                         policy::Micros failing_since);

 private:
  Gate& End();

  Gate* gate_;  // null: the outcome is told
  policy::Passage passage_;
};

}  // namespace ai::worker
