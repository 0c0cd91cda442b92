// How long a row takes from its commit to its request, or until it is stored.
#include <chrono>
#include <thread>

#include "bench/engine/parts.hpp"
#include "bench/engine/vectorizer.hpp"

namespace ai::bench {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// From commit to stored, one row after the other.
std::vector<double> StoreOneByOne(MeasuredVectorizer& vectorizer, std::size_t samples) {
  std::vector<double> milliseconds;
  for (std::size_t i = 0; i < samples; ++i) {
    vectorizer.Insert();
    const auto committed = Clock::now();
    while (vectorizer.Stored() < vectorizer.filled()) {
    }
    milliseconds.push_back(MillisecondsSince(committed));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that the worker sleeps again
  }
  return milliseconds;
}

/// From commit to stored of a stream of 200 commits a second.
std::vector<double> StoreStream(MeasuredVectorizer& vectorizer, std::size_t samples) {
  constexpr std::chrono::milliseconds kInterval{5};
  std::vector<Clock::time_point> committed;
  std::vector<double> milliseconds;
  const std::size_t before = vectorizer.filled();
  auto next = Clock::now();
  while (milliseconds.size() < samples) {
    if (committed.size() < samples && Clock::now() >= next) {
      vectorizer.Insert();
      committed.push_back(Clock::now());
      next += kInterval;
    }
    for (const std::size_t stored = vectorizer.Stored(); before + milliseconds.size() < stored;) {
      milliseconds.push_back(MillisecondsSince(committed[milliseconds.size()]));
    }
  }
  return milliseconds;
}

}  // namespace

/// To the arrival at the provider: that is more than until it is claimed.
void MeasureLatency(Bench& bench) {
  MeasuredVectorizer vectorizer(bench.database, "latency", bench.mock.Url("/v1"), kDimensions);
  constexpr std::size_t kSamples = 300;
  SetLatency(bench.mock, 0);
  vectorizer.Fill(1);
  vectorizer.Run();
  std::vector<double> milliseconds;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::string next = "requests=" + std::to_string(bench.mock.Counter("requests") + 1);
    vectorizer.Insert();
    milliseconds.push_back(1000 * WallSeconds([&] { bench.mock.WaitFor(next); }));
    while (vectorizer.Stored() < vectorizer.filled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  vectorizer.Disable();
  bench.report.AtMost("commit to request, median", Median(milliseconds), "ms", 5);
  bench.report.AtMost("commit to request, 99th percentile", Quantile(milliseconds, 0.99), "ms", 50);
}

void MeasureHeldSnapshot(Bench& bench) {
  constexpr std::size_t kSamples = 2'000;  // ten seconds
  const std::size_t many = FromEnvironment("BENCH_MANY", 1'000'000);
  SetLatency(bench.mock, 0);
  MeasuredVectorizer vectorizer(bench.database, "held_snapshot", bench.mock.Url("/v1"),
                                kFewDimensions);
  vectorizer.Fill(1);
  vectorizer.Run();
  StoreStream(vectorizer, kSamples / 10);
  const std::vector<double> before = StoreStream(vectorizer, kSamples);
  Database other;
  other.Run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM held_snapshot");
  vectorizer.InsertMany(many);
  vectorizer.WaitForAll();
  const std::vector<double> after = StoreStream(vectorizer, kSamples);
  other.Run("ROLLBACK");
  vectorizer.Disable();
  bench.report.AtLeast("stream of commits, commit to stored, median", Median(before), "ms", 0);
  bench.report.AtLeast("under a snapshot held for " + std::to_string(many) + " rows, median",
                       Median(after), "ms", 0);
  bench.report.AtMost("held snapshot to none, median", Median(after) / Median(before), "times",
                      1.5);
  bench.database.Run("DROP TABLE " + vectorizer.source() + " CASCADE");
}

void MeasureManyVectorizers(Bench& bench) {
  constexpr std::size_t kSamples = 500;
  const std::size_t many = FromEnvironment("BENCH_VECTORIZERS", 1'000);
  SetLatency(bench.mock, 0);
  const auto make = [&](std::size_t number) {
    MeasuredVectorizer vectorizer(bench.database, "many_" + std::to_string(number),
                                  bench.mock.Url("/v1"), kFewDimensions);
    vectorizer.Enable();
    return vectorizer;
  };
  make(1);
  MeasuredVectorizer vectorizer = make(0);
  vectorizer.Fill(1);
  vectorizer.Run();
  StoreOneByOne(vectorizer, kSamples / 10);
  const std::vector<double> with_two = StoreOneByOne(vectorizer, kSamples);
  for (std::size_t i = 2; i < many; ++i) {
    make(i);
  }
  StoreOneByOne(vectorizer, kSamples / 10);
  const std::vector<double> with_many = StoreOneByOne(vectorizer, kSamples);
  const auto compare = [&](const char* what, double part, double goal) {
    const double two = Quantile(with_two, part);
    bench.report.AtLeast(std::string("2 vectorizers, commit to stored, ") + what, two, "ms", 0);
    bench.report.AtMost(std::to_string(many) + " vectorizers to 2, " + what,
                        Quantile(with_many, part) / two, "times", goal);
  };
  compare("median", 0.5, 1.3);
  compare("99th percentile", 0.99, 3);
}

}  // namespace ai::bench
