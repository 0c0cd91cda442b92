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
/// A pause that the provider asked for is worth a line in the table at once if it is longer.
constexpr Micros kLongPause = 5 * policy::kSecond;

/// Whoever waits for the endpoint learns that its breaker let go of it, or that another probe may
/// go.
bool LetsGo(const policy::Breaker& before, const policy::Breaker& after) {
  return before.broken && (!after.broken || (before.prober != 0 && after.prober == 0));
}

void NoteError(SharedEndpoint& entry, const Failure& failure) {
  const std::string_view message = utf8::Clip(failure.message, sizeof(entry.last_error) - 1);
  entry.last_error[message.copy(entry.last_error, message.size())] = '\0';
  entry.last_class = failure.failure_class;
}

constexpr char kHint[] = "See ai.provider_status; ai.resume_provider lets it be asked at once.";

/// A breaker that has opened, or closed.
struct Turned {
  policy::Breaker breaker;
  char error[sizeof(SharedEndpoint::last_error)];
};

/// One line when it opens, and one when it closes; none for a probe.
void LogBreaker(const EndpointLimiter& limiter, const Turned& turned) {
  const char* address = limiter.address.c_str();
  const policy::Breaker& breaker = turned.breaker;
  const double seconds =
      static_cast<double>(breaker.NextProbe(BreakerSettings()) - breaker.opened_at) /
      policy::kSecond;
  pg::Call([&] {
    if (breaker.broken) {
      ereport(LOG,
              errmsg_plural("ai: circuit breaker of provider %s is open after %d failure, first "
                            "probe in %g s",
                            "ai: circuit breaker of provider %s is open after %d failures in a "
                            "row, first probe in %g s",
                            static_cast<unsigned long>(breaker.failures), address, breaker.failures,
                            seconds),
              errdetail("The last one: %s", turned.error), errhint("%s", kHint));
    } else {
      ereport(LOG, errmsg("ai: circuit breaker of provider %s is closed", address));
    }
  });
}

/// Runs body, which changes the state, and wakes those who wait for that.
template <typename Body>
std::optional<Turned> ChangeState(const EndpointLimiter& limiter, const Body& body) {
  bool lets_go = false;
  std::optional<Turned> turned;
  limiter.WithEntry([&](SharedEndpoint& entry, Micros now) {
    const policy::EndpointState before = entry.state;
    body(entry, now);
    const policy::EndpointState& after = entry.state;
    lets_go = LetsGo(before.breaker, after.breaker);
    const bool asked_for_rest = after.cooling_until > before.cooling_until &&
                                after.cooling_until - now > kLongPause &&
                                before.cooling_until <= now;
    if (before.breaker.broken != after.breaker.broken ||
        before.breaker.opened_at != after.breaker.opened_at || asked_for_rest) {
      ++entry.state_changes;
    }
    if (before.breaker.broken != after.breaker.broken) {
      entry.opened = after.breaker.broken ? GetCurrentTimestamp() : 0;
      turned.emplace().breaker = after.breaker;
      std::memcpy(turned->error, entry.last_error, sizeof(turned->error));
    }
  });
  if (lets_go) {
    WakeAllWorkers();
  }
  return turned;
}

/// The same, and the log says if the breaker has turned.
template <typename Body>
void Change(const EndpointLimiter& limiter, const Body& body) {
  if (const auto turned = ChangeState(limiter, body)) {
    LogBreaker(limiter, *turned);
  }
}

}  // namespace

policy::BreakerRules BreakerSettings() {
  constexpr Micros kApart = policy::kSecond;  // less than between two tries of a request
  return {.failures = pg::settings.breaker_failures,
          .pause = pg::settings.breaker_pause * (policy::kSecond / 1000),
          .apart = kApart};
}

/// No breaker turns by that.
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
    entry.state.pace.Listen(limits);
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
    entry.state.pace.Listen(limits);
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

std::optional<milliseconds> EndpointLimiter::Closed(policy::RoleId role) const {
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
  const policy::Standing standing = WithEntry([role](const SharedEndpoint& entry, Micros now) {
    return entry.state.Look(BreakerSettings(), now, role);
  });
  if (standing.obstacle == policy::Obstacle::kNone) {
    return std::nullopt;
  }
  return std::min(kNoEnd, milliseconds(standing.wait / 1000) + milliseconds(1));
}

bool EndpointLimiter::IsBroken() const {
  return WithEntry([](const SharedEndpoint& entry, Micros) { return entry.state.breaker.broken; });
}

std::optional<pipeline::Opening> EndpointLimiter::Opened() const {
  pipeline::Opening opening;
  char error[sizeof(SharedEndpoint::last_error)];
  const bool broken = WithEntry([&](const SharedEndpoint& entry, Micros) {
    opening.since = entry.opened;
    opening.failure.failure_class = entry.last_class;
    std::memcpy(error, entry.last_error, sizeof(error));
    return entry.state.breaker.broken;
  });
  if (!broken || opening.since == 0 || error[0] == '\0') {
    return std::nullopt;
  }
  opening.failure.message = "circuit breaker of provider " + address + " is open: " + error;
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
