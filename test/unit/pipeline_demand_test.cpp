// Where a queue is scanned from: not from its start each time, and never past what is waiting.
#include "core/pipeline/demand.hpp"
#include "unit/catch_bridge.hpp"

using ai::SteadyTime;
using ai::pipeline::Claimed;
using ai::pipeline::Demand;
using ai::pipeline::QueueReport;
using ai::pipeline::Tid;
using ai::pipeline::Wanted;

namespace {

const SteadyTime kNow{};

void Report(Demand& demand, std::uint32_t block) {
  demand.Report({.first_change = Tid{block, 1}}, kNow);
}

/// A claim, of which the scan begins or goes on, and ends if it has left something.
void Claim(Demand& demand, bool began, std::optional<std::uint32_t> left_from, bool more = true) {
  Claimed claimed{.more_changes = more, .scan_began = began};
  if (left_from) {
    claimed.left_from = Tid{*left_from, 0};
  }
  demand.OnClaimed(claimed, Wanted::kChanges, true, kNow);
}

std::uint32_t From(const Demand& demand) {
  return demand.NextRequest(kNow, false).from.block;
}

}  // namespace

TEST_CASE("a scan begins where the last one has left something", "[pipeline]") {
  Demand demand;
  Report(demand, 100);
  CHECK(From(demand) == 100);
  Claim(demand, true, 120);
  CHECK(From(demand) == 120);
  // Changes keep coming, and are never all claimed.
  for (std::uint32_t block = 121; block < 200; ++block) {
    Report(demand, block);
    CHECK(From(demand) == block - 1);
    Claim(demand, true, block);
    demand.NoteChanges();
    CHECK(From(demand) == block);
  }
}

TEST_CASE("what a poll finds behind a scan is not passed by", "[pipeline]") {
  Demand demand;
  Report(demand, 100);
  Claim(demand, true, std::nullopt);
  Report(demand, 50);
  Claim(demand, false, 300);  // this scan began before
  CHECK(From(demand) == 50);
  CHECK(demand.has_changes());
  Claim(demand, true, 300, false);
  CHECK(From(demand) == 300);

  Report(demand, 400);
  Claim(demand, true, std::nullopt);
  demand.NoteNamed();
  Claim(demand, false, 500);
  CHECK(From(demand) == 0);
}
