#include "worker/endpoint/endpoint_limiter.hpp"

#include <cmath>

#include "core/utf8.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"

namespace ai::worker {
namespace {

using policy::Micros;
using std::chrono::milliseconds;

constexpr milliseconds kNoEnd = std::chrono::hours(24);
/// A Retry-After that is longer than this is written to the table immediately.
constexpr Micros kLongPause = 5 * policy::kSecond;

/// Those who wait for the endpoint are woken when its breaker closes or another probe may be sent.
bool LetsGo(const policy::Breaker& before, const policy::Breaker& after) {
  return before.tripped && (!after.tripped || (before.prober != 0 && after.prober == 0));
}

void NoteError(SharedEndpoint& entry, const Failure& failure) {
  const std::string_view message = utf8::Clip(failure.message, sizeof(entry.last_error) - 1);
  entry.last_error[message.copy(entry.last_error, message.size())] = '\0';
  entry.last_class = failure.failure_class;
}

constexpr char kHint[] =
    "See ai.provider_status. Use ai.resume_provider to close the circuit "
    "breaker immediately.";

/// A transition of the breaker.
struct Transition {
  policy::Breaker breaker;
  char error[sizeof(SharedEndpoint::last_error)];
};

/// Logs when it opens and when it closes, but not its probes.
void LogBreaker(const EndpointLimiter& limiter, const Transition& transition) {
  const char* address = limiter.address.c_str();
  const policy::Breaker& breaker = transition.breaker;
  const double seconds =
      static_cast<double>(breaker.NextProbe(BreakerSettings()) - breaker.opened_at) /
      policy::kSecond;
  pg::Call([&] {
    if (breaker.tripped) {
      ereport(LOG,
              errmsg_plural("ai: circuit breaker opened for provider %s after %d failure, first "
                            "probe in %g s",
                            "ai: circuit breaker opened for provider %s after %d consecutive "
                            "failures, first probe in %g s",
                            static_cast<unsigned long>(breaker.failures), address, breaker.failures,
                            seconds),
              errdetail("Last failure: %s", transition.error), errhint("%s", kHint));
    } else {
      ereport(LOG, errmsg("ai: circuit breaker closed for provider %s", address));
    }
  });
}

/// Runs body, which changes the state, and wakes those who wait for the change.
template <typename Body>
std::optional<Transition> ChangeState(const EndpointLimiter& limiter, const Body& body) {
  bool lets_go = false;
  std::optional<Transition> transition;
  limiter.WithEntry([&](SharedEndpoint& entry, Micros now) {
    const policy::EndpointState before = entry.state;
    body(entry, now);
    const policy::EndpointState& after = entry.state;
    lets_go = LetsGo(before.breaker, after.breaker);
    const bool asked_for_rest = after.cooling_until > before.cooling_until &&
                                after.cooling_until - now > kLongPause &&
                                before.cooling_until <= now;
    if (before.breaker.tripped != after.breaker.tripped ||
        before.breaker.opened_at != after.breaker.opened_at || asked_for_rest) {
      ++entry.state_changes;
    }
    if (before.breaker.tripped != after.breaker.tripped) {
      entry.opened = after.breaker.tripped ? GetCurrentTimestamp() : 0;
      transition.emplace().breaker = after.breaker;
      std::memcpy(transition->error, entry.last_error, sizeof(transition->error));
    }
  });
  if (lets_go) {
    WakeAllWorkers();
  }
  return transition;
}

/// The same, and logs a transition of the breaker.
template <typename Body>
void Change(const EndpointLimiter& limiter, const Body& body) {
  if (const auto transition = ChangeState(limiter, body)) {
    LogBreaker(limiter, *transition);
  }
}

}  // namespace

policy::BreakerRules BreakerSettings() {
  constexpr Micros kApart = policy::kSecond;  // less than the delay between two attempts
  return {.failures = pg::settings.breaker_failures,
          .pause = pg::settings.breaker_pause * (policy::kSecond / 1000),
          .apart = kApart};
}

/// This cannot change the state of the breaker.
void EndpointLimiter::Cancelled(const policy::Admission& admission) {
  ChangeState(*this,
              [&](SharedEndpoint& entry, Micros now) { entry.state.Cancelled(admission, now); });
}

void EndpointLimiter::Charge(policy::Admission& admission, double tokens) {
  WithEntry([&](SharedEndpoint& entry, Micros now) { entry.state.Charge(admission, tokens, now); });
}

void EndpointLimiter::Succeeded(policy::Admission& admission, const provider::RateLimits& limits,
                                std::optional<std::int64_t> tokens) {
  const TimestampTz wall_now = GetCurrentTimestamp();
  Change(*this, [&](SharedEndpoint& entry, Micros now) {
    entry.state.pace.ApplyAdvertised(limits);
    if (tokens) {
      entry.state.Charge(admission, static_cast<double>(*tokens), now);
    }
    entry.state.Succeeded(admission);
    entry.latency.Add(static_cast<double>(now - admission.sent_at) / policy::kSecond);
    entry.tokens += static_cast<std::uint64_t>(admission.tokens);
    entry.last_success = wall_now;
    ++entry.outcomes[static_cast<int>(Outcome::kSucceeded)];
  });
}

policy::Verdict EndpointLimiter::Failed(const policy::Admission& admission,
                                        const provider::RateLimits& limits, const Failure& failure,
                                        Micros failing_since) {
  policy::Verdict verdict;
  const TimestampTz wall_now = GetCurrentTimestamp();
  Change(*this, [&](SharedEndpoint& entry, Micros now) {
    entry.state.pace.ApplyAdvertised(limits);
    verdict = entry.state.Failed(admission, failure, failing_since, BreakerSettings(), now);
    entry.latency.Add(static_cast<double>(now - admission.sent_at) / policy::kSecond);
    entry.last_failure = wall_now;
    NoteError(entry, failure);
    ++entry.outcomes[static_cast<int>(OutcomeOf(failure.failure_class))];
  });
  return verdict;
}

SharedEndpoint& EndpointLimiter::Entry(Micros now) const {
  SharedEndpoint* entry = &Providers()->endpoints[place_];
  if (entry->id != id) {
    entry = &ReserveEndpoint(id, address, key_name);
    place_ = static_cast<int>(entry - Providers()->endpoints);
  }
  entry->used_at = now;
  return *entry;
}

std::optional<milliseconds> EndpointLimiter::BlockedFor(policy::RoleId role) const {
  const TimestampTz wall_now = GetCurrentTimestamp();
  if (!control.enabled) {
    return kNoEnd;
  }
  if (control.paused_until > wall_now) {
    const Micros left = TIMESTAMP_NOT_FINITE(control.paused_until)
                            ? policy::kNoEnd
                            : control.paused_until - wall_now;
    return std::min(kNoEnd, milliseconds(left / 1000) + milliseconds(1));
  }
  const policy::Availability standing = WithEntry([role](const SharedEndpoint& entry, Micros now) {
    return entry.state.Check(BreakerSettings(), now, role);
  });
  if (standing.obstacle == policy::Obstacle::kNone) {
    return std::nullopt;
  }
  return std::min(kNoEnd, milliseconds(standing.wait / 1000) + milliseconds(1));
}

bool EndpointLimiter::IsBreakerTripped() const {
  return WithEntry([](const SharedEndpoint& entry, Micros) { return entry.state.breaker.tripped; });
}

std::optional<pipeline::Opening> EndpointLimiter::Opened() const {
  pipeline::Opening opening;
  char error[sizeof(SharedEndpoint::last_error)];
  const bool tripped = WithEntry([&](const SharedEndpoint& entry, Micros) {
    opening.since = entry.opened;
    opening.failure.failure_class = entry.last_class;
    std::memcpy(error, entry.last_error, sizeof(error));
    return entry.state.breaker.tripped;
  });
  if (!tripped || opening.since == 0 || error[0] == '\0') {
    return std::nullopt;
  }
  opening.failure.message = "circuit breaker is open for provider " + address + ": " + error;
  opening.failure.hint = kHint;
  return opening;
}

bool EndpointLimiter::IsLimited() const {
  return WithEntry([](const SharedEndpoint& entry, Micros now) {
    return entry.state.limits != policy::EndpointLimits{} || entry.state.pace.PerSecond(now) > 0;
  });
}

std::size_t EndpointLimiter::RequestsWithin(milliseconds time) const {
  return WithEntry([time](const SharedEndpoint& entry, Micros now) {
    return static_cast<std::size_t>(
        std::ceil(entry.state.RequestsWithin(time.count() * 1000, BreakerSettings(), now)));
  });
}

std::optional<policy::Admission> EndpointLimiter::Admit(policy::RoleId role) {
  if (!control.enabled || control.paused_until > GetCurrentTimestamp()) {
    return std::nullopt;
  }
  return WithEntry([role](SharedEndpoint& entry, Micros now) {
    const auto admitted = entry.state.Admit(MyProcPid, BreakerSettings(), now, role);
    entry.state_changes += admitted && admitted->probe ? 1 : 0;
    return admitted;
  });
}

}  // namespace ai::worker
