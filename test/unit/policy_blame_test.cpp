// Whose fault a failure is: a small simulation of roles that share a provider, with its breaker.
#include "core/policy/blame.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <vector>

#include "core/policy/backoff.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/fake_random.hpp"

using ai::Failure;
using ai::FailureClass;
using ai::policy::ActionAfter;
using ai::policy::Admission;
using ai::policy::BreakerRules;
using ai::policy::BreakerState;
using ai::policy::EndpointState;
using ai::policy::FailedRequest;
using ai::policy::FailingSince;
using ai::policy::FailureAction;
using ai::policy::kSecond;
using ai::policy::Micros;
using ai::policy::RoleId;
using ai::policy::Verdict;

namespace {

constexpr BreakerRules kRules{.failures = 5, .pause = 300 * kSecond, .apart = kSecond};
constexpr Micros kLatency = kSecond / 100;
constexpr int kMaxAttempts = 3;
constexpr int kProcess = 7;

struct Row {
  bool poison = false;
  int attempts = 0;
  Micros stored_at = 0;

  bool dead() const { return attempts >= kMaxAttempts; }
};

struct Role;

struct Request {
  Role* role;
  std::vector<Row*> rows;
  Micros at;  // when it may be sent
  int failures = 0;
  FailingSince failing = {};
};

/// Has one queue.
struct Role {
  RoleId id;
  std::list<Row> rows = {};
  FailingSince failing = {};

  long Stored() const {
    return std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.stored_at > 0; });
  }
  long Dead() const {
    return std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.dead(); });
  }
  int MostAttempts() const {
    int most = 0;
    for (const Row& row : rows) {
      most = std::max(most, row.attempts);
    }
    return most;
  }
};

class World {
 public:
  Micros now = 1000 * kSecond;
  EndpointState state;
  std::function<bool(Micros)> is_down = [](Micros) { return false; };
  FailureClass failure_class = FailureClass::kTransient;
  int requests = 0;

  /// Rows of a role, so many in a request.
  void Add(Role& role, int count, bool poison, std::size_t batch) {
    std::vector<Row*> rows;
    for (int i = 0; i < count; ++i) {
      rows.push_back(&role.rows.emplace_back(Row{.poison = poison}));
      if (rows.size() == batch || i + 1 == count) {
        Queue(role, std::exchange(rows, {}), now);
      }
    }
  }

  void Queue(Role& role, std::vector<Row*> rows, Micros at) {
    queue_.push_back({&role, std::move(rows), at});
  }

  void RunUntil(Micros end) {
    while (now < end) {
      SendAll();
      now += kLatency;
      ReceiveAll();
    }
  }

 private:
  struct UnderWay {
    Request request;
    Admission admission;
  };

  void SendAll() {
    for (auto next = queue_.begin(); next != queue_.end();) {
      const auto request = next++;
      if (request->at > now) {
        continue;
      }
      if (const auto admission = state.Admit(kProcess, kRules, now, request->role->id)) {
        if (admission->probe && request->rows.size() > 1) {
          Queue(*request->role, {request->rows.begin() + 1, request->rows.end()}, now);
          request->rows.resize(1);
        }
        if (request->failures == 0) {
          request->failing = request->role->failing;
        }
        under_way_.push_back({*request, *admission});
        queue_.erase(request);
        ++requests;
      }
    }
  }

  void ReceiveAll() {
    for (UnderWay& sent : std::exchange(under_way_, {})) {
      const auto& rows = sent.request.rows;
      if (is_down(now) || std::any_of(rows.begin(), rows.end(), [](Row* r) { return r->poison; })) {
        OnFailure(std::move(sent.request), sent.admission);
        continue;
      }
      state.Succeeded(sent.admission);
      sent.request.role->failing.Succeeded(sent.admission.probe);
      for (Row* row : rows) {
        row->stored_at = now;
      }
    }
  }

  void OnFailure(Request request, const Admission& admission) {
    const Verdict verdict =
        state.Failed(admission, Failure{.failure_class = failure_class, .message = "it failed"},
                     request.failing.time, kRules, now);
    Role& role = *request.role;
    ++request.failures;
    request.failing.Failed(now);
    role.failing.Failed(now);
    if (verdict.follows_rows) {
      role.failing.Blamed(now);
    }
    const FailedRequest failed{failure_class, request.rows.size(), request.failures, verdict};
    switch (ActionAfter(failed)) {
      case FailureAction::kRetry:
        request.at = now + Pause(request.failures);
        queue_.push_back(std::move(request));
        return;
      case FailureAction::kSplit: {
        request.at = now + (SplitsAtOnce(failed) ? 0 : Pause(1));
        Request rest = request;
        const auto half = request.rows.size() / 2;
        rest.rows.erase(rest.rows.begin(), rest.rows.begin() + static_cast<std::ptrdiff_t>(half));
        request.rows.resize(half);
        queue_.push_back(std::move(request));
        queue_.push_back(std::move(rest));
        return;
      }
      case FailureAction::kCharge:
        for (Row* row : request.rows) {
          ++row->attempts;
          if (!row->dead()) {
            Queue(role, {row}, now + (10 * kSecond << (row->attempts - 1)));
          }
        }
        return;
      case FailureAction::kRelease:
        Queue(role, std::move(request.rows), now + kSecond);
    }
  }

  /// As a worker has it: never exactly the same, and never less than makes two failures.
  Micros Pause(int failures) {
    constexpr ai::policy::Backoff kBackoff{std::chrono::milliseconds(1400),
                                           std::chrono::seconds(10)};
    return kBackoff.After(failures, random_).count() * (kSecond / 1000);
  }

  ai::test::SeededRandom random_{42};
  std::list<Request> queue_;
  std::vector<UnderWay> under_way_;
};

bool IsClosed(const World& world) {
  return world.state.breaker.State(kRules, world.now) == BreakerState::kClosed;
}

}  // namespace

TEST_CASE("an outage opens the breaker and is charged to nobody", "[policy][blame]") {
  World world;
  Role alice{1};
  world.is_down = [](Micros) { return true; };
  SECTION("one row") {
    world.Add(alice, 1, false, 10);
  }
  SECTION("many rows") {
    world.Add(alice, 200, false, 10);
  }
  SECTION("several roles, one of which has done well a moment ago") {
    static Role bob{2};
    bob = {2};
    world.Add(bob, 1, false, 1);
    world.is_down = [start = world.now](Micros now) { return now > start + kSecond; };
    world.RunUntil(world.now + 2 * kSecond);
    world.Add(bob, 20, false, 1);
    world.Add(alice, 20, false, 1);
  }
  const int before = world.requests;
  world.RunUntil(world.now + 60 * kSecond);
  CHECK_FALSE(IsClosed(world));
  CHECK(world.requests - before < 400);
  CHECK(alice.MostAttempts() == 0);
  // For a day; then it is over.
  const Micros end = world.now + 24 * 3600 * kSecond;
  world.is_down = [end](Micros now) { return now < end; };
  for (int i = 0; i < 100; ++i) {
    world.now += 290 * kSecond;
    world.RunUntil(world.now + 20 * kSecond);
    CHECK(alice.MostAttempts() == 0);
  }
  world.now = end;
  world.RunUntil(world.now + 310 * kSecond);
  CHECK(IsClosed(world));
  CHECK(alice.Stored() == static_cast<long>(alice.rows.size()));
}

TEST_CASE("a breaker is opened by failures one after the other", "[policy][blame]") {
  EndpointState state;
  const Failure failure{.failure_class = FailureClass::kTransient, .message = "it failed"};
  Micros now = 1000 * kSecond;
  const auto fail_together = [&](int count) {
    std::vector<Admission> passages;
    for (int i = 0; i < count; ++i) {
      passages.push_back(state.Admit(kProcess, kRules, now, 1).value());
    }
    for (const Admission& admission : passages) {
      state.Failed(admission, failure, 0, kRules, now += kSecond / 1000);
    }
  };
  fail_together(100);
  CHECK(state.breaker.failures == 1);
  CHECK_FALSE(state.breaker.tripped);
  fail_together(1);  // at once after them
  CHECK(state.breaker.failures == 1);
  for (int i = 0; i < 3; ++i) {
    now += kSecond;
    fail_together(2);
  }
  CHECK(state.breaker.failures == 4);
  CHECK_FALSE(state.breaker.tripped);
  now += kSecond;
  fail_together(1);
  CHECK(state.breaker.tripped);
}

TEST_CASE("rows that a provider cannot bear are charged, and nobody waits for them",
          "[policy][blame]") {
  World world;
  Role mallory{1};
  Role alice{2};
  const std::size_t batch = GENERATE(1, 20);
  world.failure_class = GENERATE(FailureClass::kTransient, FailureClass::kInvalidReply);
  world.Add(mallory, 20, true, batch);
  SECTION("while others go on") {
    for (int i = 0; i < 1000; ++i) {
      world.Add(alice, 1, false, 1);
      const Row& row = alice.rows.back();
      world.RunUntil(world.now + kSecond / 2);
      REQUIRE(row.stored_at > 0);
      REQUIRE(IsClosed(world));
    }
    CHECK(mallory.Dead() == 20);
  }
  SECTION("and others come later, now and then") {
    for (int i = 0; i < 20; ++i) {
      world.RunUntil(world.now + 100 * kSecond);
      world.Add(alice, 1, false, 1);
      const Row& row = alice.rows.back();
      const Micros start = world.now;
      world.RunUntil(world.now + kSecond / 2);
      REQUIRE(row.stored_at > 0);
      CHECK(row.stored_at - start <= 2 * kLatency);
      CHECK(IsClosed(world));
    }
    CHECK(mallory.Dead() == 20);
  }
  SECTION("and if nobody else is there, it looks like an outage") {
    world.failure_class = FailureClass::kTransient;
    world.RunUntil(world.now + 100 * kSecond);
    CHECK_FALSE(IsClosed(world));
    CHECK(mallory.MostAttempts() == 0);
  }
  CHECK(alice.MostAttempts() == 0);
}

TEST_CASE("good rows get through between bad ones", "[policy][blame]") {
  World world;
  Role mallory{1};
  world.failure_class = GENERATE(FailureClass::kTransient, FailureClass::kInvalidReply);
  const auto add = [&](int every) {
    for (int batch = 0; batch < 10; ++batch) {
      std::vector<Row*> rows;
      for (int i = 0; i < 50; ++i) {
        rows.push_back(&mallory.rows.emplace_back(Row{.poison = i % every == every - 1}));
      }
      world.Queue(mallory, rows, world.now + batch * kSecond / 10);
    }
  };
  SECTION("some, without anybody's help") {
    add(20);
    world.RunUntil(world.now + 30 * kSecond);
    CHECK(mallory.Stored() == 10 * 48);
  }
  SECTION("every other one: a breaker opens, and its probe is enough") {
    add(2);
    world.RunUntil(world.now + 400 * kSecond);
    CHECK(mallory.Stored() == 10 * 25);
  }
  for (const Row& row : mallory.rows) {
    CHECK((row.poison ? row.attempts > 0 : row.attempts == 0));
  }
}

TEST_CASE("a breaker that one role has opened lets each other role try once", "[policy][blame]") {
  EndpointState state;
  const Failure failure{.failure_class = FailureClass::kTransient, .message = "it failed"};
  const Micros start = 1000 * kSecond;
  for (int i = kRules.failures - 1; i >= 0; --i) {
    const Micros at = start - i * kSecond;
    state.Failed(state.Admit(kProcess, kRules, at, 1).value(), failure, 0, kRules, at);
  }
  REQUIRE(state.breaker.tripped);
  CHECK_FALSE(state.Admit(kProcess, kRules, start, 1));
  CHECK_FALSE(state.Admit(kProcess, kRules, start));
  const auto probe = state.Admit(kProcess, kRules, start + kSecond, 2);
  REQUIRE(probe);
  CHECK(probe->probe);
  CHECK_FALSE(state.Admit(kProcess, kRules, start + kSecond, 3));
  SECTION("if it goes well, all is well") {
    state.Succeeded(*probe);
    CHECK(state.Admit(kProcess, kRules, start + kSecond, 1));
  }
  SECTION("if not, others may, and the time goes on") {
    const Micros later = start + 2 * kSecond;
    CHECK(state.Failed(*probe, failure, 0, kRules, later).tripped);
    CHECK_FALSE(state.Admit(kProcess, kRules, later, 2));
    CHECK(state.Check(kRules, later, 2).wait == 5 * kSecond - (later - start));
    const auto another = state.Admit(kProcess, kRules, later, 3);
    REQUIRE(another);
    SECTION("one that is given up leaves it to somebody else") {
      state.Cancelled(*another, later);
      CHECK(state.Admit(kProcess, kRules, later, 4));
    }
    SECTION("one that ends when the time is over is not the one that makes it longer") {
      const Micros over = start + 5 * kSecond;
      state.Failed(*another, failure, 0, kRules, over);
      const auto next = state.Admit(kProcess, kRules, over, 1);
      REQUIRE(next);
      state.Failed(*next, failure, 0, kRules, over);
      CHECK(state.Check(kRules, over, 1).wait == 10 * kSecond);
    }
    SECTION("but not any number of them") {
      state.Failed(*another, failure, 0, kRules, later);
      int tries = 0;
      for (RoleId role = 4; role < 100; ++role) {
        if (const auto one = state.Admit(kProcess, kRules, later, role)) {
          state.Failed(*one, failure, 0, kRules, later);
          ++tries;
        }
      }
      CHECK(tries == 6);
    }
  }
  SECTION("a refused key is everybody's") {
    state.Failed(
        *probe,
        Failure{.failure_class = FailureClass::kConfiguration, .message = "no", .http_status = 401},
        0, kRules, start + kSecond);
    CHECK_FALSE(state.Admit(kProcess, kRules, start + kSecond, 3));
  }
}

TEST_CASE("a refusal of others' texts is no evidence against a row", "[policy][blame]") {
  EndpointState state;
  const Micros start = 1000 * kSecond;
  const auto failure = [](FailureClass failure_class) {
    return Failure{.failure_class = failure_class, .message = "it failed", .http_status = 400};
  };
  const auto sent = [&](Micros at) { return state.Admit(kProcess, kRules, at, 1).value(); };
  state.Failed(sent(start), failure(FailureClass::kSuspect), 0, kRules, start + 2);
  CHECK_FALSE(
      state.Failed(sent(start + 3), failure(FailureClass::kTransient), start - 1, kRules, start + 4)
          .follows_rows);
  SECTION("nor is what was sent before") {
    state.Succeeded(sent(start + 4));
    CHECK_FALSE(state
                    .Failed(sent(start + 6), failure(FailureClass::kTransient), start + 5, kRules,
                            start + 7)
                    .follows_rows);
  }
  SECTION("what was sent after is") {
    state.Succeeded(sent(start + 6));
    CHECK(state
              .Failed(sent(start + 7), failure(FailureClass::kTransient), start + 5, kRules,
                      start + 8)
              .follows_rows);
    CHECK(state.breaker.failures == 0);
  }
}
