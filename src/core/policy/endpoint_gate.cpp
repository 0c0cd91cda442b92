#include "core/policy/endpoint_gate.hpp"

#include <algorithm>

namespace ai::policy {
namespace {

using std::chrono::milliseconds;

/// Where a provider says "later" and not when.
constexpr milliseconds kDefaultPause = std::chrono::seconds(1);
/// While a probe is out there is nothing to wait for but its outcome.
constexpr milliseconds kAskAgain{100};

}  // namespace

std::optional<milliseconds> EndpointGate::Closed() const {
  const auto left =
      std::chrono::duration_cast<milliseconds>(closed_until_ - clock_->Now()) + milliseconds(1);
  if (closed_until_ > clock_->Now()) {
    return left;
  }
  if (broken() && probing_) {
    return kAskAgain;
  }
  return std::nullopt;
}

void EndpointGate::Sent() {
  probing_ = probing_ || broken();
}

void EndpointGate::Succeeded() {
  failures_ = 0;
  probing_ = false;
}

void EndpointGate::Cancelled() {
  probing_ = false;
}

void EndpointGate::Failed(const Failure& failure) {
  probing_ = false;
  milliseconds pause{0};
  switch (failure.failure_class) {
    case FailureClass::kDeferred:
      pause = failure.retry_after.value_or(kDefaultPause);
      break;
    case FailureClass::kConfiguration:
      failures_ = std::max(failures_ + 1, limits_.failures);
      pause = limits_.broken_for;
      break;
    case FailureClass::kTransient:
    case FailureClass::kInvalidReply:
      ++failures_;
      pause = broken() ? limits_.broken_for : milliseconds(0);
      break;
    default:
      failures_ = 0;  // it answered, and what it said was about the text
      return;
  }
  closed_until_ = std::max(closed_until_, clock_->Now() + pause);
}

}  // namespace ai::policy
