// What a worker process costs beside the provider and the server, measured on a private server with
// one worker (scripts/bench-engine starts it) and against the mock provider, which this starts.
//
// BENCH_ROWS         rows of the comparison with a bare client (100,000)
// BENCH_MANY         rows of the long queue, and under a held snapshot (1,000,000)
// BENCH_VECTORIZERS  how many are many (1,000)
// BENCH_PARTS        which parts (all): see parts.hpp
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/engine/parts.hpp"

namespace {

using namespace ai::bench;

constexpr std::pair<const char*, void (*)(Bench&)> kParts[] = {
    {"compare", CompareWithBareClient}, {"jobs", CompareJobs},     {"latency", MeasureLatency},
    {"snapshot", MeasureHeldSnapshot},  {"growth", MeasureGrowth}, {"documents", MeasureDocuments},
    {"many", MeasureManyVectorizers},   {"idle", MeasureIdle},
};

}  // namespace

int main() {
  try {
    Report report(MemcpyRate(std::string(std::size_t{1} << 20, 'a'), 7));
    Database database;
    ai::test::MockProvider mock;
    Bench bench{report, database, mock};
    database.Run("SET client_min_messages = warning; CREATE EXTENSION ai CASCADE");
    database.Run("SET synchronous_commit = off");  // as a worker has it
    const char* wanted = std::getenv("BENCH_PARTS");
    for (const auto& [name, measure] : kParts) {
      if (wanted == nullptr || std::string_view(wanted).find(name) != std::string_view::npos) {
        measure(bench);
      }
    }
    return report.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_bench: %s\n", error.what());
    return 1;
  }
}
