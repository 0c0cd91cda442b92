// See pace.hpp.
#include "core/policy/pace.hpp"

#include <cmath>

namespace ai::policy {
namespace {

constexpr double kCurve = 20.0 * kSecond;  // until the pace is again where the refusal was
constexpr double kFirst = 1;               // where nothing is known yet
constexpr double kLeast = 1.0 / 60;
constexpr double kLeastGrowth = 1.02;  // else a pace that is much too slow would stay so
constexpr Micros kIdle = 2 * kSecond;
/// A pace that went well for so long was nearly right.
constexpr Micros kLongEnough = 3 * kSecond;
constexpr double kLittleLess = 0.9;
constexpr double kMuchLess = 0.5;

/// A little less than the provider says: its clock is not ours.
constexpr double kMargin = 0.99;

/// What may go in a second, by a provider's word; 0 if it says nothing.
double ToldRate(std::optional<std::int64_t> limit, std::optional<std::int64_t> remaining,
                std::optional<std::chrono::milliseconds> reset) {
  if (!limit || *limit <= 0) {
    return 0;
  }
  const double by_minute = kMargin * static_cast<double>(*limit) / 60;
  // A limit by day or hour shows in how long it takes until it is there again; the less of it is
  // left, the better.
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
  return told > 0 ? std::min(learned, told) : learned;
}

void Pace::Sent(Micros now, Micros free_at) {
  // What was accepted counts from the last refusal, but not if nothing was to be done since.
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
    floor = told > 0 ? told : std::max(accepted_rate, kFirst);
    ceiling = told > 0 ? floor : 2 * floor;
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

void Pace::Listen(const provider::RateLimits& limits) {
  const double requests =
      ToldRate(limits.limit_requests, limits.remaining_requests, limits.reset_requests);
  told = requests > 0 ? requests : told;
  // Both are the same as long as the provider's word was enough.
  const bool by_word = floor == ceiling;
  if (by_word && told > 0 &&
      (floor > 0 || LittleIsLeft(limits.limit_requests, limits.remaining_requests))) {
    floor = ceiling = told;
  }
  const double tokens = ToldRate(limits.limit_tokens, limits.remaining_tokens, limits.reset_tokens);
  told_tokens = tokens > 0 ? tokens : told_tokens;
  keeps_tokens = keeps_tokens || LittleIsLeft(limits.limit_tokens, limits.remaining_tokens);
}

}  // namespace ai::policy
