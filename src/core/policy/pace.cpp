// See pace.hpp.
#include "core/policy/pace.hpp"

#include <cmath>

namespace ai::policy {
namespace {

constexpr double kCurve = 20.0 * kSecond;  // time to grow back to the rate of the last refusal
constexpr double kFirst = 1;               // initial rate, before anything is known
constexpr double kLeast = 1.0 / 60;
constexpr double kLeastGrowth = 1.02;  // or a rate that is much too low would stay so
constexpr Micros kIdle = 2 * kSecond;
/// A rate that lasted this long was nearly right.
constexpr Micros kLongEnough = 3 * kSecond;
constexpr double kLittleLess = 0.9;
constexpr double kMuchLess = 0.5;

/// A little less than advertised: the provider's clock differs from ours.
constexpr double kMargin = 0.99;

/// The rate per second that a provider advertises; 0 if none.
double ToldRate(std::optional<std::int64_t> limit, std::optional<std::int64_t> remaining,
                std::optional<std::chrono::milliseconds> reset) {
  if (!limit || *limit <= 0) {
    return 0;
  }
  const double by_minute = kMargin * static_cast<double>(*limit) / 60;
  // The period of a limit (day, hour) is derived from the time until it is reset; the less is left,
  // the more precisely.
  const std::int64_t used = *limit - remaining.value_or(*limit);
  if (used * 2 < *limit || !reset || reset->count() <= 0) {
    return by_minute;
  }
  const double back_again = static_cast<double>(used) / static_cast<double>(reset->count());
  return std::min(by_minute, kMargin * 1000 * back_again);
}

bool LittleIsLeft(std::optional<std::int64_t> limit, std::optional<std::int64_t> remaining) {
  return limit && remaining && *remaining < *limit / 20;
}

}  // namespace

double Pace::PerSecond(Micros now) const {
  if (floor <= 0) {
    return 0;
  }
  const double way = static_cast<double>(now - cut_at) / kCurve - 1;
  const double learned = ceiling + (ceiling - floor) * way * way * way;
  return advertised > 0 ? std::min(learned, advertised) : learned;
}

void Pace::Sent(Micros now, Micros free_at) {
  // Accepted requests are counted from the last refusal, unless there was nothing to send since.
  const double pace = PerSecond(now);
  const Micros between = pace > 0 ? static_cast<Micros>(3 * kSecond / pace) : 0;
  if (now - std::max(last_sent, free_at) > std::max(kIdle, between)) {
    since = now;
    accepted = 0;
  }
  last_sent = now;
}

void Pace::Accepted(Micros sent_at) {
  accepted += sent_at >= since ? 1 : 0;
}

bool Pace::Refused(Micros sent_at, Micros free_at, Micros now) {
  if (sent_at < cut_at) {
    return false;
  }
  const auto elapsed = static_cast<double>(std::max<Micros>(now - since, 1000)) / kSecond;
  const double accepted_rate = static_cast<double>(accepted) / elapsed;
  const double kept = PerSecond(now);
  if (kept <= 0) {
    floor = advertised > 0 ? advertised : std::max(accepted_rate, kFirst);
    ceiling = advertised > 0 ? floor : 2 * floor;
  } else {
    const bool went_well = now - std::max(since, free_at) >= kLongEnough;
    const double less = kept * (went_well ? kLittleLess : kMuchLess);
    floor = std::clamp(less, std::min(std::max(accepted_rate, kLeast), kept), kept);
    ceiling = std::max(std::sqrt(floor * kept), floor * kLeastGrowth);
  }
  cut_at = since = now;
  accepted = 0;
  return true;
}

void Pace::ApplyAdvertised(const provider::RateLimits& limits) {
  const double requests =
      ToldRate(limits.limit_requests, limits.remaining_requests, limits.reset_requests);
  advertised = requests > 0 ? requests : advertised;
  // Both are equal as long as the advertised rate was sufficient.
  const bool by_header = floor == ceiling;
  if (by_header && advertised > 0 &&
      (floor > 0 || LittleIsLeft(limits.limit_requests, limits.remaining_requests))) {
    floor = ceiling = advertised;
  }
  const double tokens = ToldRate(limits.limit_tokens, limits.remaining_tokens, limits.reset_tokens);
  advertised_tokens = tokens > 0 ? tokens : advertised_tokens;
  keeps_tokens = keeps_tokens || LittleIsLeft(limits.limit_tokens, limits.remaining_tokens);
}

}  // namespace ai::policy
