// The simulation: many histories without a broken promise, and planted defects that it finds.
#include "unit/catch_bridge.hpp"
#include "unit/simulation/simulator.hpp"

namespace ai::simulation {
namespace {

std::string Story(std::uint64_t seed, const Result& result) {
  std::string story = "seed " + std::to_string(seed) + ": " + result.violation + "\n";
  const std::size_t lines = std::min<std::size_t>(result.history.size(), 60);
  for (std::size_t i = result.history.size() - lines; i < result.history.size(); ++i) {
    story += result.history[i] + "\n";
  }
  return story;
}

/// What the first history says that finds the defect; empty if none of so many does.
std::string FirstFinding(Defect defect, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Result result = Simulator(seed, defect).Run();
    if (!result.violation.empty()) {
      return result.violation;
    }
  }
  return {};
}

}  // namespace

// Under sanitizers; `make simulate` runs many more without.
TEST_CASE("no promise is broken in any history", "[simulation]") {
  constexpr std::uint64_t kSeeds = 300;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Result result = Simulator(seed).Run();
    INFO(Story(seed, result));
    REQUIRE(result.violation.empty());
  }
}

TEST_CASE("histories that once broke a promise keep it", "[simulation]") {
  for (const std::uint64_t seed : {169201}) {
    const Result result = Simulator(seed).Run();
    INFO(Story(seed, result));
    CHECK(result.violation.empty());
  }
}

TEST_CASE("a seed repeats its history", "[simulation]") {
  CHECK(Simulator(7).Run().counts == Simulator(7).Run().counts);
  CHECK(Simulator(7).Run().counts != Simulator(8).Run().counts);
}

TEST_CASE("planted defects are found", "[simulation]") {
  constexpr std::uint64_t kSeeds = 200;
  const auto finds = [&](Defect defect, std::string_view words) {
    const std::string finding = FirstFinding(defect, kSeeds);
    INFO(finding);
    return finding.find(words) != std::string::npos;
  };
  CHECK(finds(Defect::kDoubleStore, "is stored twice"));
  CHECK(finds(Defect::kLostRelease, "not done in the end"));
  CHECK(finds(Defect::kChargeOn429, "nothing is wrong with it"));
  CHECK(finds(Defect::kStarvation, "waits for ever while another queue has work"));
  CHECK(finds(Defect::kBusyLoop, "a turn that does not end"));
  CHECK(finds(Defect::kStaleWrite, "was lost"));
  CHECK(finds(Defect::kLeakedPermit, "keeps requests"));
  CHECK(finds(Defect::kWrongBisect, "nothing is wrong with it"));
  CHECK(finds(Defect::kLostEvent, "was lost"));
  CHECK(finds(Defect::kMixedVectors, "the vector of another text"));
}

}  // namespace ai::simulation
