#include "core/policy/worker_pool.hpp"

#include <numeric>

#include "unit/catch_bridge.hpp"

using ai::SteadyTime;
using ai::policy::kCheckPatience;
using ai::policy::kTurn;
using ai::policy::PoolClaim;
using ai::policy::PoolSize;
using ai::policy::ShareSlots;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const SteadyTime kNow{seconds(1000)};

PoolClaim Waits(int wanted, milliseconds for_so_long) {
  return {.wanted = wanted, .since = kNow - for_so_long};
}

PoolClaim Served(int wanted, int held, milliseconds for_so_long) {
  return {.wanted = wanted, .held = held, .served = true, .since = kNow - for_so_long};
}

std::vector<int> Share(int slots, const std::vector<PoolClaim>& claims) {
  return ShareSlots(slots, claims, kNow);
}

using Shares = std::vector<int>;

}  // namespace

TEST_CASE("the pool leaves parallel queries their share", "[pool]") {
  CHECK(PoolSize(-1, 8, 8) == 5);  // as the server comes
  CHECK(PoolSize(-1, 8, 2) == 6);
  CHECK(PoolSize(-1, 8, 0) == 8);
  CHECK(PoolSize(-1, 16, 8) == 8);
  CHECK(PoolSize(-1, 30, 8) == 22);
  CHECK(PoolSize(-1, 2, 8) == 5);
}

TEST_CASE("a setting is taken as it is, but for one that would serve nobody", "[pool]") {
  CHECK(PoolSize(12, 8, 8) == 12);
  CHECK(PoolSize(3, 8, 8) == 3);
  CHECK(PoolSize(0, 8, 8) == 3);
}

TEST_CASE("while there is room everybody has what it wants", "[pool]") {
  CHECK(Share(10, {}) == Shares{});
  CHECK(Share(10, {Waits(3, seconds(1)), Served(3, 3, seconds(100)), Waits(1, seconds(0))}) ==
        Shares{3, 3, 1});
}

TEST_CASE("what is left after two for each is shared evenly", "[pool]") {
  CHECK(Share(5, {Served(5, 2, seconds(1))}) == Shares{5});
  CHECK(Share(6, {Waits(5, seconds(2)), Waits(5, seconds(1))}) == Shares{3, 3});
  CHECK(Share(7, {Waits(5, seconds(2)), Waits(5, seconds(1))}) == Shares{4, 3});
  CHECK(Share(7, {Waits(2, seconds(2)), Waits(9, seconds(1))}) == Shares{2, 5});
}

TEST_CASE("who waits the longest comes first", "[pool]") {
  CHECK(Share(2, {Waits(3, seconds(1)), Waits(3, seconds(3)), Waits(3, seconds(2))}) ==
        Shares{0, 2, 0});
}

TEST_CASE("a look takes one place", "[pool]") {
  CHECK(Share(4, {Waits(1, seconds(4)), Waits(1, seconds(3)), Waits(1, seconds(2)),
                  Waits(1, seconds(1)), Waits(1, seconds(0))}) == Shares{1, 1, 1, 1, 0});
}

TEST_CASE("nobody has to go for a look, unless it has waited for long", "[pool]") {
  CHECK(Share(4, {Served(3, 2, 5 * kTurn), Served(3, 2, 6 * kTurn), Waits(1, seconds(30))}) ==
        Shares{2, 2, 0});
  CHECK(Share(4, {Served(3, 2, 5 * kTurn), Served(3, 2, 6 * kTurn), Waits(1, kCheckPatience)}) ==
        Shares{2, 0, 0});
  CHECK(Share(3, {Served(2, 2, 6 * kTurn), Waits(1, seconds(0))}) == Shares{2, 1});
}

TEST_CASE("nobody has to go before its turn is over", "[pool]") {
  CHECK(Share(3, {Served(3, 3, kTurn - milliseconds(1)), Waits(3, seconds(60))}) == Shares{3, 0});
}

TEST_CASE("who was served the longest goes, and who waits comes when it has gone", "[pool]") {
  const std::vector<PoolClaim> before{Served(3, 2, kTurn), Served(3, 2, 2 * kTurn),
                                      Waits(3, seconds(1))};
  CHECK(Share(4, before) == Shares{2, 0, 0});
  const std::vector<PoolClaim> half_way{Served(3, 2, kTurn), Served(3, 1, 2 * kTurn),
                                        Waits(3, seconds(1))};
  CHECK(Share(4, half_way) == Shares{2, 0, 0});
  const std::vector<PoolClaim> after{Served(3, 2, kTurn), Waits(3, seconds(0)),
                                     Waits(3, seconds(1))};
  // The other one has had its turn as well, and the first waits again.
  CHECK(Share(4, after) == Shares{0, 0, 2});
}

TEST_CASE("one that has more than its share gives up what it has too much", "[pool]") {
  CHECK(Share(4, {Served(4, 4, seconds(1)), Waits(3, seconds(1))}) == Shares{2, 0});
  CHECK(Share(4, {Served(4, 2, seconds(1)), Waits(3, seconds(1))}) == Shares{2, 2});
}

TEST_CASE("one whose work would be lost stays, with no more than it needs", "[pool]") {
  PoolClaim builds = Served(4, 4, seconds(1000));
  builds.pinned = true;
  CHECK(Share(4, {builds, Waits(3, seconds(1))}) == Shares{2, 0});
  CHECK(Share(2, {builds, Waits(3, seconds(1))}) == Shares{2, 0});
}

TEST_CASE("many coordinators that find work make way for those that fit", "[pool]") {
  CHECK(Share(4, {Served(3, 1, seconds(1)), Served(3, 1, seconds(1)), Served(3, 1, seconds(1)),
                  Served(3, 1, seconds(1))}) == Shares{1, 1, 0, 0});
}

TEST_CASE("in turns everybody is served, and never more than the slots are taken", "[pool]") {
  constexpr int kPlaces = 4;
  struct Database {
    PoolClaim claim = {.wanted = 3};
    seconds served{0};
    seconds longest_wait{0};
  };
  std::vector<Database> all(7);
  SteadyTime now = kNow;
  for (Database& database : all) {
    database.claim.since = now;
  }
  for (int step = 0; step < 200; ++step, now += seconds(1)) {
    std::vector<PoolClaim> claims;
    for (const Database& database : all) {
      claims.push_back(database.claim);
    }
    const std::vector<int> shares = ShareSlots(kPlaces, claims, now);
    int taken = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      PoolClaim& claim = all[i].claim;
      // Who has to go takes until the next step for it.
      const int has = std::max(shares[i], shares[i] < claim.held ? claim.held : 0);
      taken += has;
      if (!claim.served && shares[i] > 0) {
        all[i].longest_wait =
            std::max(all[i].longest_wait, std::chrono::duration_cast<seconds>(now - claim.since));
      }
      if (claim.served != (shares[i] > 0)) {
        claim.served = !claim.served;
        claim.since = now;
      }
      claim.held = shares[i];
      all[i].served += seconds(shares[i] > 0 ? 1 : 0);
    }
    CHECK(taken <= kPlaces);
  }
  for (const Database& database : all) {
    CHECK(database.served >= seconds(200 * 2 / 7 / 2));
    CHECK(database.longest_wait <= 7 * kTurn);
  }
}
