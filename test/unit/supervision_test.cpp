#include "core/policy/crash_history.hpp"
#include "core/policy/liveness.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/manual_clock.hpp"

using ai::SteadyTime;
using ai::WallTime;
using ai::policy::CheckLiveness;
using ai::policy::CrashHistory;
using ai::policy::Describe;
using ai::policy::Liveness;
using ai::policy::LivenessSigns;
using ai::policy::LivenessTimeouts;
using ai::policy::Phase;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr minutes kWindow{5};
constexpr int kLimit = 5;
constexpr LivenessTimeouts kTimeouts{seconds(30), seconds(300)};

/// A crash now; whether that was one too many.
bool Crash(CrashHistory& history, const ai::Clock& clock) {
  history.Add(clock.WallNow());
  history.Trim(clock.WallNow(), kWindow);
  return history.Reaches(kLimit);
}

/// A process that went round at the given time and has not been asked since.
LivenessSigns Healthy(SteadyTime turned) {
  return {Phase::kHealthy, turned - hours(1), turned, {}, {}};
}

}  // namespace

TEST_CASE("the fifth crash within five minutes is one too many", "[supervision]") {
  ai::test::ManualClock clock;
  CrashHistory history;
  for (int i = 1; i < kLimit; ++i) {
    CHECK_FALSE(Crash(history, clock));
    clock.Advance(minutes(1));
  }
  CHECK(Crash(history, clock));
}

TEST_CASE("crashes slide out of the window", "[supervision]") {
  ai::test::ManualClock clock;
  CrashHistory history;
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(Crash(history, clock));
    clock.Advance(seconds(75));
  }
  CHECK(history.times().size() == 4);
  history.Trim(clock.WallNow(), milliseconds(1));
  CHECK(history.times().empty());
}

TEST_CASE("crashes of a time to come are forgotten", "[supervision]") {
  ai::test::ManualClock clock;
  CrashHistory history;
  for (int i = 1; i < kLimit; ++i) {
    Crash(history, clock);
  }
  clock.SetWall(clock.WallNow() - hours(1));
  CHECK_FALSE(Crash(history, clock));
  CHECK(history.times().size() == 1);
}

TEST_CASE("a history is what a table had of it", "[supervision]") {
  const WallTime now{seconds(1'700'000'000)};
  CrashHistory history({now - minutes(6), now - minutes(4), now});
  history.Trim(now, kWindow);
  CHECK(history.times().size() == 2);
  CHECK(history.Reaches(2));
  CHECK_FALSE(history.Reaches(3));
}

TEST_CASE("who crashes again waits, twice as long each time, a minute at most", "[supervision]") {
  CrashHistory history;
  for (const int expected : {0, 0, 1, 2, 4, 8, 16, 32, 60, 60}) {
    CHECK(history.Pause() == seconds(expected));
    history.Add(WallTime{});
  }
}

TEST_CASE("a process has the timeout to get to work, and to end", "[supervision]") {
  const ai::test::ManualClock clock;
  const SteadyTime now = clock.Now();
  for (const auto& [phase, verdict] : {std::pair{Phase::kStarting, Liveness::kStuckStarting},
                                       {Phase::kStopping, Liveness::kStuckStopping}}) {
    CHECK(CheckLiveness({phase, now - seconds(30), now, now, now}, kTimeouts, now) ==
          Liveness::kAlive);
    CHECK(CheckLiveness({phase, now - seconds(31), now, now, now}, kTimeouts, now) == verdict);
  }
}

TEST_CASE("one whose loop goes round is well", "[supervision]") {
  const ai::test::ManualClock clock;
  CHECK(CheckLiveness(Healthy(clock.Now() - seconds(30)), kTimeouts, clock.Now()) ==
        Liveness::kAlive);
}

TEST_CASE("one that is quiet is asked, and given up if it does not answer", "[supervision]") {
  ai::test::ManualClock clock;
  LivenessSigns signs = Healthy(clock.Now());
  clock.Advance(seconds(31));
  REQUIRE(CheckLiveness(signs, kTimeouts, clock.Now()) == Liveness::kToBePinged);
  signs.pinged = clock.Now();
  CHECK(CheckLiveness(signs, kTimeouts, clock.Now()) == Liveness::kAlive);
  clock.Advance(kTimeouts.ForReply());
  CHECK(CheckLiveness(signs, kTimeouts, clock.Now()) == Liveness::kAlive);
  clock.Advance(milliseconds(1));
  CHECK(CheckLiveness(signs, kTimeouts, clock.Now()) == Liveness::kSilent);
  signs.turned = clock.Now();
  CHECK(CheckLiveness(signs, kTimeouts, clock.Now()) == Liveness::kAlive);
}

TEST_CASE("one that answers is asked again and again, until it has stalled", "[supervision]") {
  ai::test::ManualClock clock;
  LivenessSigns signs = Healthy(clock.Now());
  clock.Advance(seconds(31));
  int asked = 0;
  while (clock.Now() - signs.turned <= kTimeouts.stall) {
    const Liveness found = CheckLiveness(signs, kTimeouts, clock.Now());
    REQUIRE((found == Liveness::kAlive || found == Liveness::kToBePinged));
    if (found == Liveness::kToBePinged) {
      ++asked;
      signs.pinged = signs.replied = clock.Now();
    }
    clock.Advance(seconds(1));
  }
  CHECK(asked > 30);
  CHECK(CheckLiveness(signs, kTimeouts, clock.Now()) == Liveness::kStalled);
}

TEST_CASE("an answer of earlier does not count", "[supervision]") {
  const ai::test::ManualClock clock;
  const SteadyTime now = clock.Now();
  LivenessSigns signs = Healthy(now - seconds(60));
  signs.pinged = now - seconds(20);
  signs.replied = now - seconds(21);
  CHECK(CheckLiveness(signs, kTimeouts, now) == Liveness::kSilent);
}

TEST_CASE("the stall limit is never below the timeout; answers get a second at least",
          "[supervision]") {
  const ai::test::ManualClock clock;
  const LivenessTimeouts timeouts{seconds(3), seconds(1)};
  CHECK(timeouts.ForReply() == seconds(1));
  CHECK(CheckLiveness(Healthy(clock.Now() - seconds(2)), timeouts, clock.Now()) ==
        Liveness::kAlive);
  CHECK(CheckLiveness(Healthy(clock.Now() - seconds(4)), timeouts, clock.Now()) ==
        Liveness::kStalled);
  CHECK(kTimeouts.ForReply() == seconds(5));
}

TEST_CASE("each diagnosis has its words", "[supervision]") {
  CHECK(std::string(Describe(Liveness::kSilent)) == "process does not respond");
  CHECK(std::string(Describe(Liveness::kStalled)) == "process responds but makes no progress");
  CHECK(std::string(Describe(Liveness::kStuckStarting)) == "process did not become healthy");
  CHECK(std::string(Describe(Liveness::kStuckStopping)) == "process did not exit");
}
