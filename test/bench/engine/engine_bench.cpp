// What a worker process costs beside the provider and the server, measured on a private server with
// one worker (scripts/bench-engine starts it) and against the mock provider, which this starts.
//
// BENCH_ROWS     rows of the comparison with a bare client (100,000)
// BENCH_MANY     rows of the long queue (1,000,000)
// BENCH_PARTS    which parts: any of compare, jobs, latency, growth, idle (all)
#include <chrono>
#include <cstdlib>
#include <thread>

#include "bench/bench.hpp"
#include "bench/engine/bare_client.hpp"
#include "bench/engine/jobs.hpp"
#include "bench/engine/process.hpp"
#include "bench/engine/vectorizer.hpp"
#include "unit/http_mock.hpp"

namespace {

using ai::bench::BareRun;
using ai::bench::Database;
using ai::bench::MeasuredVectorizer;
using ai::bench::PrivateMegabytes;
using ai::bench::ProcessSeconds;
using ai::bench::Report;
using ai::bench::WorkerProcess;
using ai::test::MockProvider;

constexpr std::size_t kDimensions = 384;
constexpr std::size_t kFewDimensions = 16;  // of the long queue: not the provider is measured there
constexpr std::size_t kBatchSize = 200;     // the defaults of a vectorizer and of ai.max_in_flight
constexpr std::size_t kInFlight = 16;
constexpr std::size_t kRuns = 3;
constexpr std::size_t kFew = 10'000;

std::size_t FromEnvironment(const char* name, std::size_t fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::strtoull(value, nullptr, 10);
}

bool Wanted(std::string_view part) {
  const char* parts = std::getenv("BENCH_PARTS");
  return parts == nullptr || std::string_view(parts).find(part) != std::string_view::npos;
}

double Median(std::vector<double> values, double of = 0.5) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * of)];
}

template <typename Body>
double WallSeconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void SetLatency(MockProvider& mock, int milliseconds) {
  mock.Rules(R"([{"latency_ms": )" + std::to_string(milliseconds) + "}]");
}

std::vector<std::string> Texts(Database& database, const MeasuredVectorizer& vectorizer) {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i <= vectorizer.filled(); ++i) {
    texts.push_back(database.Run("SELECT body FROM " + vectorizer.source() +
                                 " WHERE id = " + std::to_string(i)));
  }
  return texts;
}

struct Seconds {
  std::vector<double> wall;
  std::vector<double> processor;
};

/// The vectorizer and the bare client in turns. Returns the vectorizer's rows per second.
double CompareWithBare(Report& report, Database& database, MockProvider& mock,
                       MeasuredVectorizer& vectorizer, int latency) {
  const std::string name = std::to_string(latency) + " ms: ";
  const std::size_t rows = FromEnvironment("BENCH_ROWS", 100'000);
  const long worker = WorkerProcess(database);
  const long backend = database.Number("SELECT pg_backend_pid()");
  SetLatency(mock, latency);
  Seconds ours;
  Seconds bare;
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
    const double before = ProcessSeconds(backend) + ai::bench::ThreadSeconds();
    bare.wall.push_back(WallSeconds([&] {
      const BareRun settings{mock.Url("/v1"), "bare", kDimensions, kBatchSize, kInFlight};
      RunBareClient(database, settings, texts);
    }));
    bare.processor.push_back(ProcessSeconds(backend) + ai::bench::ThreadSeconds() - before);
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
void CompareWithOneByOne(Report& report, Database& database, MockProvider& mock, double rate) {
  const std::vector<std::string> texts(40, std::string(200, 'x'));
  database.Run("TRUNCATE bare");
  const double seconds = WallSeconds([&] {
    RunBareClient(database, {mock.Url("/v1"), "bare", kDimensions, 1, 1}, texts);
  });
  const double alone = static_cast<double>(texts.size()) / seconds;
  report.AtLeast("50 ms: vectorizer to one row at a time", rate / alone, "times", 20);
}

/// Embedding jobs and the vectorizer in turns, with a provider that answers at once.
void CompareJobs(Report& report, Database& database, MockProvider& mock,
                 MeasuredVectorizer& vectorizer) {
  const std::size_t rows = FromEnvironment("BENCH_ROWS", 100'000);
  const long worker = WorkerProcess(database);
  ai::bench::MeasuredJobs jobs(database, mock.Url("/v1"), kDimensions);
  SetLatency(mock, 0);
  Seconds of_rows;
  Seconds of_jobs;
  const auto measure = [&](Seconds& seconds, const auto& run) {
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

/// From the commit of a row to the arrival of its request at the provider: that is more than until
/// it is claimed.
void MeasureLatency(Report& report, MockProvider& mock, MeasuredVectorizer& vectorizer) {
  constexpr std::size_t kSamples = 300;
  SetLatency(mock, 0);
  vectorizer.Fill(1);
  vectorizer.Run();
  std::vector<double> milliseconds;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::string next = "requests=" + std::to_string(mock.Counter("requests") + 1);
    vectorizer.Insert();
    milliseconds.push_back(1000 * WallSeconds([&] { mock.WaitFor(next); }));
    while (vectorizer.Stored() < vectorizer.filled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  vectorizer.Disable();
  report.AtMost("commit to request, median", Median(milliseconds), "ms", 5);
  report.AtMost("commit to request, 99th percentile", Median(milliseconds, 0.99), "ms", 50);
}

/// Processor time for a row of a queue of so many.
double CostOfRow(MeasuredVectorizer& vectorizer, long worker, std::size_t rows, double& megabytes) {
  vectorizer.Fill(rows);
  const double before = ProcessSeconds(worker);
  vectorizer.Run([&](std::size_t) { megabytes = std::max(megabytes, PrivateMegabytes(worker)); });
  return (ProcessSeconds(worker) - before) / static_cast<double>(rows);
}

/// The same work from a short queue, before and after, and from a long one.
void MeasureGrowth(Report& report, Database& database, MockProvider& mock) {
  const std::size_t many = FromEnvironment("BENCH_MANY", 1'000'000);
  SetLatency(mock, 0);
  const long worker = WorkerProcess(database);
  MeasuredVectorizer vectorizer(database, "long_queue", mock.Url("/v1"), kFewDimensions);
  double first = 0;
  double most = 0;
  std::vector<double> few = {CostOfRow(vectorizer, worker, kFew, first)};
  const auto measure_few = [&] {
    for (std::size_t run = 0; run < kRuns; ++run) {
      few.push_back(CostOfRow(vectorizer, worker, kFew, most));
    }
  };
  measure_few();
  const double long_queue = CostOfRow(vectorizer, worker, many, most);
  measure_few();
  report.AtLeast("10,000 queued: worker, processor", Median(few) * 1e6, "us/row", 0);
  report.AtLeast(std::to_string(many) + " queued: worker, processor", long_queue * 1e6, "us/row",
                 0);
  report.AtMost("cost of a row in a long queue", long_queue / Median(few), "times", 1.15);
  report.AtMost("worker's memory, to that of the first 10,000", most / first, "times", 1.1);
  report.AtMost("worker's memory", most, "MB", 100);
  database.Run("DROP TABLE " + vectorizer.source() + " CASCADE");
}

/// Processor time of all processes of the extension in this database.
double EngineSeconds(Database& database) {
  const long count = database.Number(
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'ai %' "
      "AND (datname = current_database() OR datname IS NULL)");
  double seconds = 0;
  for (long i = 0; i < count; ++i) {
    seconds += ProcessSeconds(
        database.Number("SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'ai %' AND "
                        "(datname = current_database() OR datname IS NULL) ORDER BY pid OFFSET " +
                        std::to_string(i) + " LIMIT 1"));
  }
  return seconds;
}

/// How often a worker has looked around, since the statistics were reset.
constexpr const char* kLooks =
    "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = '_look_for_work'";

void MeasureIdle(Report& report, Database& database, MockProvider& mock) {
  constexpr double kSeconds = 60;  // some things are done once a minute
  constexpr double kPollSeconds = 5;
  for (int i = 0; i < 10; ++i) {
    MeasuredVectorizer vectorizer(database, "idle_" + std::to_string(i), mock.Url("/v1"), 16);
    vectorizer.Enable();
  }
  database.Run("ALTER SYSTEM SET track_functions = 'all'");
  database.Run("SELECT pg_reload_conf()");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const double processor_before = EngineSeconds(database);
  const long looks_before = database.Number(kLooks);
  std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
  const double share = (EngineSeconds(database) - processor_before) / kSeconds;
  const auto looks = static_cast<double>(database.Number(kLooks) - looks_before);
  report.AtMost("idle with 10 vectorizers, of one core", share * 100, "%", 0.1);
  // One look may fall into the window from either side.
  report.AtMost("idle: looks in 60 s", looks, "", kSeconds / kPollSeconds + 1);
}

}  // namespace

int main() {
  try {
    Report report(ai::bench::MemcpyRate(std::string(std::size_t{1} << 20, 'a'), 7));
    Database database;
    MockProvider mock;
    database.Run("SET client_min_messages = warning; CREATE EXTENSION ai CASCADE");
    database.Run("SET synchronous_commit = off");  // as a worker has it
    MeasuredVectorizer vectorizer(database, "compared", mock.Url("/v1"), kDimensions);
    if (Wanted("compare")) {
      CompareWithBare(report, database, mock, vectorizer, 0);
      const double rate = CompareWithBare(report, database, mock, vectorizer, 50);
      CompareWithOneByOne(report, database, mock, rate);
    }
    if (Wanted("jobs")) {
      CompareJobs(report, database, mock, vectorizer);
    }
    if (Wanted("latency")) {
      MeasureLatency(report, mock, vectorizer);
    }
    if (Wanted("growth")) {
      MeasureGrowth(report, database, mock);
    }
    if (Wanted("idle")) {
      MeasureIdle(report, database, mock);
    }
    return report.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_bench: %s\n", error.what());
    return 1;
  }
}
