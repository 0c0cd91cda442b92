#include "core/policy/store_budget.hpp"

#include <algorithm>

namespace ai::policy {
namespace {

/// The last measurement has weight one half, and the budget at most quadruples: the first chunks of
/// a table may be cheap, and those that go into an index not.
constexpr double kWeight = 0.5;
constexpr double kMaxGrowth = 4;
constexpr double kLeast = 1;  // microsecond per chunk

}  // namespace

std::size_t StoreBudget::Chunks() const noexcept {
  const double budget = std::chrono::duration<double, std::micro>(kTime).count();
  return std::max<std::size_t>(1, static_cast<std::size_t>(budget / microseconds_));
}

void StoreBudget::Took(std::size_t chunks, std::chrono::microseconds time) noexcept {
  if (chunks == 0) {
    return;
  }
  const double measured = static_cast<double>(time.count()) / static_cast<double>(chunks);
  // A slower one than expected has full weight.
  const double expected =
      measured > microseconds_ ? measured : microseconds_ + kWeight * (measured - microseconds_);
  microseconds_ = std::max({expected, microseconds_ / kMaxGrowth, kLeast});
}

}  // namespace ai::policy
