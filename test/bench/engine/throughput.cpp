// How many rows and jobs a second, beside what the provider and the server need for them.
#include "bench/engine/bare_client.hpp"
#include "bench/engine/jobs.hpp"
#include "bench/engine/parts.hpp"
#include "bench/engine/process.hpp"
#include "bench/engine/vectorizer.hpp"

namespace ai::bench {
namespace {

constexpr std::size_t kBatchSize = 200;  // the defaults of a vectorizer and of ai.max_in_flight
constexpr std::size_t kInFlight = 16;

std::vector<std::string> Texts(Database& database, const MeasuredVectorizer& vectorizer) {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i <= vectorizer.filled(); ++i) {
    texts.push_back(database.Run("SELECT body FROM " + vectorizer.source() +
                                 " WHERE id = " + std::to_string(i)));
  }
  return texts;
}

struct Timings {
  std::vector<double> wall;
  std::vector<double> processor;
};

/// The vectorizer and the bare client in turns. Returns the vectorizer's rows per second.
double CompareAt(Bench& bench, MeasuredVectorizer& vectorizer, int latency) {
  Report& report = bench.report;
  Database& database = bench.database;
  test::MockProvider& mock = bench.mock;
  const std::string name = std::to_string(latency) + " ms: ";
  const std::size_t rows = FromEnvironment("BENCH_ROWS", 100'000);
  const long worker = WorkerProcess(database);
  const long backend = database.Number("SELECT pg_backend_pid()");
  SetLatency(mock, latency);
  Timings ours;
  Timings bare;
  std::vector<std::string> texts;
  for (std::size_t run = 0; run < kRuns; ++run) {
    vectorizer.Fill(rows);
    database.Run("CHECKPOINT");
    const double worker_before = ProcessSeconds(worker);
    ours.wall.push_back(vectorizer.Run());
    ours.processor.push_back(ProcessSeconds(worker) - worker_before);
    vectorizer.Disable();
    if (texts.empty()) {
      texts = Texts(database, vectorizer);
    }
    database.Run("DROP TABLE IF EXISTS bare; CREATE TABLE bare (LIKE " + vectorizer.target() +
                 " INCLUDING ALL)");
    database.Run("CHECKPOINT");
    const double before = ProcessSeconds(backend) + ThreadSeconds();
    bare.wall.push_back(WallSeconds([&] {
      const BareRun settings{mock.Url("/v1"), "bare", kDimensions, kBatchSize, kInFlight};
      RunBareClient(database, settings, texts);
    }));
    bare.processor.push_back(ProcessSeconds(backend) + ThreadSeconds() - before);
  }
  const auto count = static_cast<double>(rows);
  report.AtLeast(name + "bare client", count / Median(bare.wall), "rows/s", 0);
  report.AtLeast(name + "vectorizer", count / Median(ours.wall), "rows/s", 0);
  report.AtLeast(name + "bare client and its backend, processor",
                 Median(bare.processor) / count * 1e6, "us/row", 0);
  report.AtLeast(name + "worker, processor", Median(ours.processor) / count * 1e6, "us/row", 0);
  report.AtLeast(name + "vectorizer to bare client", Median(bare.wall) / Median(ours.wall), "times",
                 0.75);
  return count / Median(ours.wall);
}

/// A row, a request: what a loop without batches reaches.
void CompareWithOneByOne(Bench& bench, double rate) {
  Report& report = bench.report;
  Database& database = bench.database;
  test::MockProvider& mock = bench.mock;
  const std::vector<std::string> texts(40, std::string(200, 'x'));
  database.Run("TRUNCATE bare");
  const double seconds = WallSeconds([&] {
    RunBareClient(database, {mock.Url("/v1"), "bare", kDimensions, 1, 1}, texts);
  });
  const double alone = static_cast<double>(texts.size()) / seconds;
  report.AtLeast("50 ms: vectorizer to one row at a time", rate / alone, "times", 20);
}

}  // namespace

void CompareWithBareClient(Bench& bench) {
  MeasuredVectorizer vectorizer(bench.database, "compared", bench.mock.Url("/v1"), kDimensions);
  CompareAt(bench, vectorizer, 0);
  CompareWithOneByOne(bench, CompareAt(bench, vectorizer, 50));
}

/// Embedding jobs and the vectorizer in turns, with a provider that answers at once.
void CompareJobs(Bench& bench) {
  Report& report = bench.report;
  Database& database = bench.database;
  test::MockProvider& mock = bench.mock;
  MeasuredVectorizer vectorizer(database, "beside_jobs", mock.Url("/v1"), kDimensions);
  const std::size_t rows = FromEnvironment("BENCH_ROWS", 100'000);
  const long worker = WorkerProcess(database);
  MeasuredJobs jobs(database, mock.Url("/v1"), kDimensions);
  SetLatency(mock, 0);
  Timings of_rows;
  Timings of_jobs;
  const auto measure = [&](Timings& seconds, const auto& run) {
    database.Run("CHECKPOINT");
    const double before = ProcessSeconds(worker);
    seconds.wall.push_back(run());
    seconds.processor.push_back(ProcessSeconds(worker) - before);
  };
  for (std::size_t run = 0; run < kRuns; ++run) {
    vectorizer.Fill(rows);
    measure(of_rows, [&] { return vectorizer.Run(); });
    vectorizer.Disable();
    jobs.Fill(rows);
    measure(of_jobs, [&] { return jobs.Run(); });
  }
  const auto count = static_cast<double>(rows);
  report.AtLeast("jobs", count / Median(of_jobs.wall), "jobs/s", 0);
  report.AtLeast("jobs: worker, processor", Median(of_jobs.processor) / count * 1e6, "us/job", 0);
  report.AtLeast("rows: worker, processor", Median(of_rows.processor) / count * 1e6, "us/row", 0);
  report.AtLeast("jobs to rows of a vectorizer", Median(of_rows.wall) / Median(of_jobs.wall),
                 "times", 0.6);
  database.Run("TRUNCATE ai.embedding_jobs");
}

}  // namespace ai::bench
