// Tests of the effects that are parameters: core/clock, core/random, and their fakes.
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/fake_random.hpp"
#include "unit/fakes/manual_clock.hpp"

using ai::test::IsError;
using namespace std::chrono_literals;

namespace {

constexpr int kDraws = 100000;

}  // namespace

TEST_CASE("the system clock agrees with the system", "[clock]") {
  const ai::SystemClock clock;
  const auto steady_before = std::chrono::steady_clock::now();
  const ai::SteadyTime steady = clock.Now();
  REQUIRE(steady >= steady_before);
  REQUIRE(steady <= std::chrono::steady_clock::now());
  const auto difference = clock.WallNow() - std::chrono::system_clock::now();
  REQUIRE(std::chrono::abs(difference) < 1min);
}

TEST_CASE("the manual clock moves only when told to", "[clock]") {
  ai::test::ManualClock clock;
  const ai::SteadyTime steady = clock.Now();
  const ai::WallTime wall = clock.WallNow();
  REQUIRE(clock.Now() == steady);
  clock.Advance(1500ms);
  REQUIRE(clock.Now() - steady == 1500ms);
  REQUIRE(clock.WallNow() - wall == 1500ms);
  clock.SetWall(wall - 1h);
  REQUIRE(clock.WallNow() == wall - 1h);
  REQUIRE(clock.Now() - steady == 1500ms);
}

TEST_CASE("system random numbers fill the unit interval evenly", "[random]") {
  ai::SystemRandom random;
  int buckets[10] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.Uniform();
    if (u < 0 || u >= 1) {
      FAIL("outside of [0, 1): " << u);
    }
    ++buckets[static_cast<int>(u * 10)];
  }
  // A bucket's standard deviation is 95; ten of them away happens by chance never.
  for (const int count : buckets) {
    CHECK(std::abs(count - kDraws / 10) < 950);
  }
  ai::SystemRandom other;
  REQUIRE(random.Uniform() != other.Uniform());
}

TEST_CASE("bounded random numbers stay within their bounds", "[random]") {
  ai::test::ScriptedRandom edges{0.0, 0x1.fffffffffffffp-1, 0.5, 0x1.fffffffffffffp-1, 0.25};
  REQUIRE(edges.Below(7) == 0);
  REQUIRE(edges.Below(7) == 6);
  REQUIRE(edges.Below(8) == 4);
  REQUIRE(edges.Below(0xFFFFFFFF) == 0xFFFFFFFE);
  REQUIRE(edges.Between(2, 4) == 2.5);
  REQUIRE(edges.asked() == 5);
  REQUIRE_THROWS_AS(edges.Uniform(), std::logic_error);
  REQUIRE_THROWS_MATCHES(edges.Below(0), ai::Error, IsError(ai::ErrorCode::kInternal));
}

TEST_CASE("seeded random numbers repeat", "[random]") {
  ai::test::SeededRandom a(5);
  ai::test::SeededRandom b(5);
  ai::test::SeededRandom c(6);
  const double first = a.Uniform();
  REQUIRE(first == b.Uniform());
  REQUIRE(first != c.Uniform());
  REQUIRE(first >= 0);
  REQUIRE(first < 1);
}
