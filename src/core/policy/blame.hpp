// Whose fault a failed request is, the provider's or that of one of its rows; and what follows.
//
// A role must not be able to stop others by texts that a provider cannot bear, and no row must be
// given up because a provider is down. What tells the two apart is whether others get through: a
// failure is a row's if somebody's request went well that was sent after the row had failed. Such a
// request is cut in halves until the row stands alone, which is charged then; the breaker does not
// see it. All else is the provider's as far as is known: the breaker counts it and opens before
// anything is charged.
#pragma once

#include <cstdint>

#include "core/failure.hpp"
#include "core/policy/endpoint_state.hpp"

namespace ai::policy {

/// Since when rows fail, or the queue they are of: kept through retries and halves of a request.
struct FailingSince {
  Micros time = 0;  // 0: they do not

  /// A request of them has failed.
  void Failed(Micros now) { time = time == 0 ? now : time; }

  /// The failure was found to follow rows. For the next request of the queue that has to be found
  /// anew: the provider may be down by then.
  void Blamed(Micros now) { time = now; }

  /// One has succeeded. That of a probe does not end it: one text says little of whole requests,
  /// and what fails after it was the rows' fault before.
  void Succeeded(bool probe) { time = probe ? time : 0; }
};

/// A request that has failed.
struct FailedRequest {
  FailureClass failure_class = FailureClass::kTransient;
  std::size_t rows = 1;
  int failures = 1;  // of these rows since they were taken
  Verdict verdict = {};
};

enum class Sequel : std::uint8_t {
  kRetry,    // as it is, after a pause
  kSplit,    // each half for itself
  kCharge,   // an attempt
  kRelease,  // uncharged: the provider answers nobody
};

Sequel WhatFollows(const FailedRequest& request);

/// Whether its halves may go at once: the provider answers, as far as is known. Else there is a
/// pause before, so that one that is down is not asked for each row before its breaker opens.
inline bool SplitsAtOnce(const FailedRequest& request) {
  return request.verdict.follows_rows || request.failure_class == FailureClass::kInvalidReply;
}

}  // namespace ai::policy
