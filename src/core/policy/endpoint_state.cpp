// See endpoint_state.hpp.
#include "core/policy/endpoint_state.hpp"

#include <algorithm>

namespace ai::policy {
namespace {

/// The pause after a refusal without Retry-After; doubled each time.
constexpr Micros kFirstPause = kSecond;
constexpr int kMaxDoublings = 6;

std::int64_t StricterOf(std::int64_t one, std::int64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

EndpointLimits Strictest(const EndpointLimits& one, const EndpointLimits& other) {
  return {StricterOf(one.requests_per_minute, other.requests_per_minute),
          StricterOf(one.tokens_per_minute, other.tokens_per_minute)};
}

Availability EndpointState::Check(const BreakerRules& rules, Micros now, RoleId role) const {
  if (breaker.State(rules, now) == BreakerState::kOpen && !breaker.MayProbeEarly(role)) {
    return {Obstacle::kOpen, breaker.NextProbe(rules) - now};
  }
  if (cooling_until > now) {
    return {Obstacle::kCooling, cooling_until - now};
  }
  if (breaker.tripped && breaker.prober != 0) {
    return {Obstacle::kProbing, kNoEnd};
  }
  const Micros wait = std::max({requests.Wait(RequestRate(), now), tokens.Wait(TokenRate(), now),
                                paced_requests.Wait(pace.Requests(now), now),
                                paced_tokens.Wait(pace.Tokens(), now)});
  return {wait > 0 ? Obstacle::kRate : Obstacle::kNone, wait};
}

double EndpointState::RequestsWithin(Micros time, const BreakerRules& rules, Micros now) const {
  constexpr double kUnlimited = 1e9;
  if (breaker.State(rules, now) != BreakerState::kClosed) {
    return 1;
  }
  double count = kUnlimited;
  for (const Rate& rate : {RequestRate(), pace.Requests(now)}) {
    if (rate.per_second > 0) {
      count = std::min(count, rate.per_second * static_cast<double>(time) / kSecond);
    }
  }
  return std::max(count, 1.0);
}

std::optional<Admission> EndpointState::Admit(std::int32_t process, const BreakerRules& rules,
                                              Micros now, RoleId role) {
  if (Check(rules, now, role).obstacle != Obstacle::kNone) {
    return std::nullopt;
  }
  requests.Take(RequestRate(), 1, now);
  paced_requests.Take(pace.Requests(now), 1, now);
  pace.Sent(now, cooling_until);
  return Admission{now, 0, breaker.Sent(process), role};
}

void EndpointState::Charge(Admission& admission, double tokens_now, Micros now) {
  const double more = tokens_now - admission.tokens;
  for (auto [bucket, rate] : {std::pair{&tokens, TokenRate()}, {&paced_tokens, pace.Tokens()}}) {
    if (more >= 0) {
      bucket->Take(rate, more, now);
    } else {
      bucket->Return(rate, -more);
    }
  }
  admission.tokens = tokens_now;
}

void EndpointState::Succeeded(const Admission& admission) {
  Answered(admission);
  last_success_sent_at = std::max(last_success_sent_at, admission.sent_at);
}

void EndpointState::Answered(const Admission& admission) {
  breaker.Succeeded();
  pace.Accepted(admission.sent_at);
  refusals = 0;
}

Verdict EndpointState::Failed(const Admission& admission, const Failure& failure,
                              Micros failing_since, const BreakerRules& rules, Micros now) {
  bool follows_rows = false;
  switch (failure.failure_class) {
    case FailureClass::kDeferred:
      breaker.Released(admission.probe);
      CoolDown(admission, failure, now);
      break;
    case FailureClass::kTransient:
    case FailureClass::kInvalidReply:
      // A failure while the breaker is tripped is no evidence against a row.
      follows_rows = failing_since != 0 && last_success_sent_at > failing_since && !breaker.tripped;
      if (!follows_rows) {
        breaker.Failed(admission.probe, admission.sent_at, admission.role, rules, now);
      }
      break;
    default:
      if (failure.failure_class == FailureClass::kConfiguration && IsOfEndpoint(failure)) {
        breaker.Trip(admission.probe, now);
      } else {
        // It replied, and the error concerns this request only.
        Answered(admission);
      }
  }
  return {follows_rows, breaker.tripped};
}

void EndpointState::CoolDown(const Admission& admission, const Failure& failure, Micros now) {
  const bool is_new = pace.Refused(admission.sent_at, cooling_until, now);
  refusals += is_new ? 1 : 0;
  const int doublings = std::clamp(refusals - 1, 0, kMaxDoublings);
  const Micros pause = failure.retry_after ? failure.retry_after->count() * (kSecond / 1000)
                                           : kFirstPause << doublings;
  cooling_until = std::max(cooling_until, now + pause);
}

void EndpointState::Cancelled(const Admission& admission, Micros now) {
  breaker.Released(admission.probe);
  requests.Return(RequestRate(), 1);
  paced_requests.Return(pace.Requests(now), 1);
}

void EndpointState::SetLimits(const EndpointLimits& wanted, Micros now) {
  if (wanted != limits) {
    limits = wanted;
    requests.Forgive(now);
    tokens.Forgive(now);
  }
}

void EndpointState::Reset() {
  breaker.Succeeded();
  cooling_until = 0;
  refusals = 0;
}

bool IsOfEndpoint(const Failure& failure) {
  return failure.http_status != 400 && failure.http_status != 404 && failure.http_status != 422 &&
         failure.provider_code.find("model") == std::string::npos;
}

}  // namespace ai::policy
