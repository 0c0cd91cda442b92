// The adaptive request rate for a provider whose limit is not configured: learned from its refusals
// (429) and from its rate limit headers.
//
// Until a request is refused, or headers say that little is left, requests are not paced: a
// provider that allows bursts gets them. After a refusal the rate is reduced, but not below what
// was accepted since the refusal before, which the limit certainly allows. Then it grows along a
// cubic curve, as TCP CUBIC does: fast at first, slowly near the last refusals, and fast again
// beyond, so that refusals are rare and a raised limit is found.
//
// Plain data: it lives in shared memory.
#pragma once

#include <cstdint>

#include "core/policy/rate_bucket.hpp"
#include "core/provider/rate_limits.hpp"

namespace ai::policy {

struct Pace {
  static constexpr Micros kSlack = 90 * kSecond / 1000;

  double floor = 0;              // requests per second after the last refusal; 0: not paced
  double ceiling = 0;            // where the curve is flat
  double advertised = 0;         // by the provider's headers; 0: nothing
  double advertised_tokens = 0;  // the same in tokens per second
  bool keeps_tokens = false;     // few tokens are left
  std::int64_t accepted = 0;     // requests since then
  Micros since = 0;
  Micros last_sent = 0;
  Micros cut_at = 0;

  /// The current rates.
  Rate Requests(Micros now) const { return {PerSecond(now), kSlack}; }
  Rate Tokens() const { return {keeps_tokens ? advertised_tokens : 0, kSlack}; }

  /// Requests per second; 0: not paced.
  double PerSecond(Micros now) const;

  /// A request is sent; before free_at none was admitted.
  void Sent(Micros now, Micros free_at);
  void Accepted(Micros sent_at);

  /// False if it was sent before the last refusal, and so counts as the same one.
  bool Refused(Micros sent_at, Micros free_at, Micros now);

  void ApplyAdvertised(const provider::RateLimits& limits);
};

}  // namespace ai::policy
