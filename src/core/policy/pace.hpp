// How fast to ask a provider that has a limit nobody told us: learned from its refusals (429) and
// from what it says in its headers.
//
// Until it refuses something, or says that little is left, there is no pace: a provider that allows
// bursts gives them. After a refusal the pace is less, but not less than what was accepted since
// the refusal before, which its limit allows for certain. Then it grows along a cubic curve: fast
// at first, slowly where the last refusals were, and fast again behind that, so that refusals are
// rare and a limit that was raised is found.
//
// Plain data: it lives in shared memory.
#pragma once

#include <cstdint>

#include "core/policy/rate_bucket.hpp"
#include "core/provider/rate_limits.hpp"

namespace ai::policy {

struct Pace {
  static constexpr Micros kSlack = 90 * kSecond / 1000;

  double floor = 0;           // requests per second after the last refusal; 0: no pace is kept
  double ceiling = 0;         // where the curve is flat
  double told = 0;            // what the provider says; 0: nothing
  double told_tokens = 0;     // the same in tokens per second
  bool keeps_tokens = false;  // little is left of them
  std::int64_t accepted = 0;  // requests since then
  Micros since = 0;
  Micros last_sent = 0;
  Micros cut_at = 0;

  /// What may go now.
  Rate Requests(Micros now) const { return {PerSecond(now), kSlack}; }
  Rate Tokens() const { return {keeps_tokens ? told_tokens : 0, kSlack}; }

  /// Requests per second; 0: no pace is kept.
  double PerSecond(Micros now) const;

  /// A request goes; until free_at nobody was allowed to.
  void Sent(Micros now, Micros free_at);
  void Accepted(Micros sent_at);

  /// False if it was sent before the last refusal, and is one with that.
  bool Refused(Micros sent_at, Micros free_at, Micros now);

  void Listen(const provider::RateLimits& limits);
};

}  // namespace ai::policy
