// How much is stored in one transaction.
#include "core/policy/store_budget.hpp"

#include "unit/catch_bridge.hpp"

using ai::policy::StoreBudget;
using std::chrono::microseconds;

namespace {

/// Stores what the budget says, at a fixed cost for a chunk, and returns how long the last one
/// took.
microseconds Run(StoreBudget& budget, int transactions, double cost) {
  microseconds taken{0};
  for (int i = 0; i < transactions; ++i) {
    const std::size_t chunks = budget.Chunks();
    taken = microseconds(static_cast<std::int64_t>(cost * static_cast<double>(chunks)));
    budget.Took(chunks, taken);
  }
  return taken;
}

}  // namespace

TEST_CASE("A store keeps to its time, whatever a chunk costs", "[policy]") {
  for (const double cost : {2.0, 50.0, 1000.0, 20'000.0}) {
    StoreBudget budget;
    const microseconds taken = Run(budget, 20, cost);
    CHECK(taken <= StoreBudget::kTime + microseconds(static_cast<std::int64_t>(cost)));
    CHECK(taken >= StoreBudget::kTime / 2 - microseconds(static_cast<std::int64_t>(cost)));
  }
}

TEST_CASE("One chunk is stored, however long that takes", "[policy]") {
  StoreBudget budget;
  Run(budget, 3, 10'000'000.0);
  CHECK(budget.Chunks() == 1);
}

TEST_CASE("A store that has become slow is short the next time", "[policy]") {
  StoreBudget budget;
  Run(budget, 20, 10.0);
  const std::size_t many = budget.Chunks();
  CHECK(many > 1000);
  budget.Took(many, microseconds(3'000'000));
  CHECK(budget.Chunks() * 3'000'000 / many <= 60'000);
}

TEST_CASE("What is cheap at first does not make the next store long", "[policy]") {
  StoreBudget budget;
  const std::size_t first = budget.Chunks();
  budget.Took(first, microseconds(0));
  CHECK(budget.Chunks() <= 4 * first);
}

TEST_CASE("A store without a chunk tells nothing", "[policy]") {
  StoreBudget budget;
  const std::size_t before = budget.Chunks();
  budget.Took(0, microseconds(1'000'000));
  CHECK(budget.Chunks() == before);
}
