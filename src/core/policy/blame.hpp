// Whether the provider or one of the rows is at fault for a failed request, and what to do about
// it.
//
// A role must not be able to stop others with texts that a provider cannot handle, and no row must
// become a dead letter because a provider is down. The two are told apart by whether others
// succeed: a failure is attributed to the rows if some request succeeded that was sent after they
// had failed. Such a request is bisected until the row is alone and charged; the breaker does not
// count it. Any other failure is attributed to the provider: the breaker counts it and opens before
// anything is charged.
#pragma once

#include <cstdint>

#include "core/failure.hpp"
#include "core/policy/endpoint_state.hpp"

namespace ai::policy {

/// Since when rows, or their queue, have been failing: kept across retries and bisection.
struct FailingSince {
  Micros time = 0;  // 0: they are not

  /// A request has failed.
  void Failed(Micros now) { time = time == 0 ? now : time; }

  /// The failure was attributed to rows. For the next request of the queue that starts over: the
  /// provider may be down by then.
  void Blamed(Micros now) { time = now; }

  /// A request has succeeded. A probe does not end it: one text is little evidence about full
  /// requests, and what fails after it failed before because of the rows.
  void Succeeded(bool probe) { time = probe ? time : 0; }
};

/// A request that has failed.
struct FailedRequest {
  FailureClass failure_class = FailureClass::kTransient;
  std::size_t rows = 1;
  int failures = 1;  // of these rows since they were claimed
  Verdict verdict = {};
};

enum class FailureAction : std::uint8_t {
  kRetry,    // unchanged, after a back-off
  kSplit,    // each half separately
  kCharge,   // one attempt
  kRelease,  // uncharged: the provider is down
};

FailureAction ActionAfter(const FailedRequest& request);

/// Whether the halves may be sent immediately, because the provider is known to reply. Otherwise
/// there is a back-off, so that a provider that is down does not get a request per row before its
/// breaker opens.
inline bool SplitsAtOnce(const FailedRequest& request) {
  return request.verdict.follows_rows || request.failure_class == FailureClass::kInvalidReply;
}

}  // namespace ai::policy
