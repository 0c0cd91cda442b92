// The parts of the workers' benchmark, in the order in which they run, and what they share. Each is
// run alone by BENCH_PARTS.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/engine/database.hpp"
#include "unit/http_mock.hpp"

namespace ai::bench {

inline constexpr std::size_t kDimensions = 384;
/// Where not the provider is measured.
inline constexpr std::size_t kFewDimensions = 16;
inline constexpr std::size_t kRuns = 3;

struct Bench {
  Report& report;
  Database& database;
  test::MockProvider& mock;
};

/// compare: the vectorizer and a bare client in turns, at 0 and 50 ms.
void CompareWithBareClient(Bench& bench);
/// jobs: embedding jobs and the vectorizer in turns.
void CompareJobs(Bench& bench);
/// latency: from the commit of a row to its request.
void MeasureLatency(Bench& bench);
/// snapshot: a stream of commits, before and after many rows have passed that nobody can vacuum.
void MeasureHeldSnapshot(Bench& bench);
/// growth: a row of a short queue and of a long one.
void MeasureGrowth(Bench& bench);
/// documents: the memory of a worker that has large texts.
void MeasureDocuments(Bench& bench);
/// many: from commit to stored with two vectorizers and with a thousand, which stay.
void MeasureManyVectorizers(Bench& bench);
/// idle: processor time when nothing happens, with as many vectorizers as there are.
void MeasureIdle(Bench& bench);

/// A number from the environment, such as BENCH_ROWS.
std::size_t FromEnvironment(const char* name, std::size_t fallback);

/// The value below which such a part of them is.
double Quantile(std::vector<double> values, double part);
inline double Median(const std::vector<double>& values) {
  return Quantile(values, 0.5);
}

double WallSeconds(const std::function<void()>& body);

void SetLatency(test::MockProvider& mock, int milliseconds);

}  // namespace ai::bench
