// A short seeded run of what test/fuzz/provider_target.cpp runs for long.
#include <cstddef>

#include "fuzz/provider_fuzz.hpp"
#include "fuzz/seeded.hpp"
#include "unit/catch_bridge.hpp"

TEST_CASE("no reply does harm", "[provider]") {
  ai::fuzz::SeededInputs inputs(5);
  std::size_t taken = 0;
  constexpr std::size_t kRuns = 20'000;
  for (std::size_t i = 0; i < kRuns; ++i) {
    taken += ai::fuzz::FuzzProvider(inputs.Next()) ? 1 : 0;
  }
  // Both happen often, or the inputs are not worth much.
  CHECK(taken > kRuns / 20);
  CHECK(taken < kRuns * 19 / 20);
}
