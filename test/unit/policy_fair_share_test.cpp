// Who comes next: shares by weight, and nobody waits for ever.
#include <cmath>
#include <map>
#include <vector>

#include "core/policy/fair_share.hpp"
#include "unit/catch_bridge.hpp"

using ai::policy::Contender;
using ai::policy::FairShare;
using ai::policy::WeightOf;

namespace {

/// Serves so many times, each with that cost; says how much each queue got.
std::map<int, double> Serve(FairShare& share, const std::vector<Contender>& contenders, int times,
                            double cost = 1) {
  std::map<int, double> got;
  for (int i = 0; i < times; ++i) {
    const Contender& next = contenders[share.Next(contenders).value()];
    share.Charge(next, cost);
    got[next.queue] += cost;
  }
  return got;
}

}  // namespace

TEST_CASE("a priority is a weight with bounds", "[policy][share]") {
  CHECK(WeightOf(-100) == 0.5);
  CHECK(WeightOf(0) == 1);
  CHECK(WeightOf(100) == 2);
  CHECK(WeightOf(200) == 4);
  CHECK(WeightOf(32767) == 4);
  CHECK(WeightOf(-32768) == 0.5);
  CHECK(WeightOf(50) > 1.4);
  CHECK(WeightOf(50) < 1.5);
}

TEST_CASE("nobody comes next where nobody wants anything", "[policy][share]") {
  FairShare share;
  CHECK_FALSE(share.Next({}));
}

TEST_CASE("owners share by the weights of what they do", "[policy][share]") {
  FairShare share;
  SECTION("equals get the same") {
    auto got = Serve(share, {{10, 1, 0}, {20, 2, 0}}, 1000);
    CHECK(got[1] == 500);
    CHECK(got[2] == 500);
  }
  SECTION("the more urgent gets more, and the others are not stopped") {
    auto got = Serve(share, {{10, 1, 32767}, {20, 2, 0}, {30, 3, -100}}, 5500);
    CHECK(std::abs(got[1] - 4000) <= 5);
    CHECK(std::abs(got[2] - 1000) <= 5);
    CHECK(std::abs(got[3] - 500) <= 5);
  }
  SECTION("whatever is served at a time") {
    double rows = 0;
    double few = 0;
    const std::vector<Contender> both = {{10, 1, 0}, {20, 2, 0}};
    for (int i = 0; i < 10'000; ++i) {
      const std::size_t next = share.Next(both).value();
      share.Charge(both[next], next == 0 ? 100 : 1);
      (next == 0 ? rows : few) += next == 0 ? 100 : 1;
    }
    CHECK(std::abs(few - rows) <= 101);
  }
}

TEST_CASE("between owners only a priority that was granted counts", "[policy][share]") {
  FairShare share;
  auto got = Serve(share, {{10, 1, 200, 0}, {10, 2, 0, 0}, {20, 3, 0}}, 1000);
  CHECK(got[1] + got[2] == 500);
  CHECK(got[1] == 400);
  CHECK(got[3] == 500);
}

TEST_CASE("many queues of an owner do not outweigh one of another", "[policy][share]") {
  FairShare share;
  std::vector<Contender> contenders;
  for (int queue = 1; queue <= 100; ++queue) {
    contenders.push_back({10, queue, 0});
  }
  contenders.push_back({20, 1000, 0});
  auto got = Serve(share, contenders, 20'000);
  CHECK(got[1000] == 10'000);
  CHECK(got[1] == 100);
  CHECK(got[100] == 100);
}

TEST_CASE("the queues of one owner share by weight, too", "[policy][share]") {
  FairShare share;
  SECTION("alone") {
    auto got = Serve(share, {{10, 1, 100}, {10, 2, 0}, {10, 3, 0}}, 4000);
    CHECK(std::abs(got[1] - 2000) <= 3);
    CHECK(std::abs(got[2] - 1000) <= 3);
    CHECK(std::abs(got[3] - 1000) <= 3);
  }
  SECTION("beside another owner") {
    auto got = Serve(share, {{10, 1, 0}, {10, 2, 0}, {20, 3, 0}}, 4000);
    CHECK(std::abs(got[1] - 1000) <= 3);
    CHECK(std::abs(got[2] - 1000) <= 3);
    CHECK(std::abs(got[3] - 2000) <= 3);
  }
  SECTION("if the owner has to step back now and then") {
    std::map<int, int> got;
    for (int i = 0; i < 100; ++i) {
      const std::vector<Contender> mine = {{10, 1, 0}, {10, 2, 0}};
      const Contender& next = mine[share.Next(mine).value()];
      share.Charge(next, 1);
      ++got[next.queue];
      Serve(share, {{20, 3, 0}}, 50);
    }
    CHECK(got[1] == 50);
    CHECK(got[2] == 50);
  }
}

TEST_CASE("who comes late comes soon, and saved nothing up", "[policy][share]") {
  FairShare share;
  const std::vector<Contender> busy = {{10, 1, 200}};
  Serve(share, busy, 100'000, 100);
  const std::vector<Contender> both = {{10, 1, 200}, {20, 2, 0}};
  SECTION("next, though the other is more urgent") {
    CHECK(share.Next(both).value() == 1);
  }
  SECTION("but then by weight") {
    auto got = Serve(share, both, 1000);
    CHECK(got[2] < 250);
    CHECK(got[2] > 190);
  }
  SECTION("and the same for a queue of the same owner") {
    const std::vector<Contender> queues = {{10, 1, 200}, {10, 2, 0}};
    CHECK(share.Next(queues).value() == 1);
    auto got = Serve(share, queues, 1000);
    CHECK(got[2] < 250);
    CHECK(got[2] > 190);
  }
}

TEST_CASE("a turn that nothing comes of is a turn", "[policy][share]") {
  FairShare share;
  auto got = Serve(share, {{10, 1, 0}, {10, 2, 0}}, 10, 0);
  CHECK(share.Next(std::vector<Contender>{{10, 1, 0}, {10, 2, 0}}).value() == 0);
  share.Charge({10, 1, 0}, 0);
  CHECK(share.Next(std::vector<Contender>{{10, 1, 0}, {10, 2, 0}}).value() == 1);
}

TEST_CASE("owners that are gone are forgotten", "[policy][share]") {
  FairShare share;
  for (std::uint32_t owner = 1; owner <= 3000; ++owner) {
    const std::vector<Contender> one = {{owner, 1, 0}};
    share.Next(one);
    share.Charge(one[0], 1);
  }
  // Each was ahead of the present by what it was served; the present goes on with one that stays.
  Serve(share, {{1, 1, 0}}, 10);
  CHECK(share.owners() <= FairShare::kMaxOwners + 1);
}
