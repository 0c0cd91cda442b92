// What a worker takes in processor time and in memory, when there is much to do and when there is
// nothing.
#include <chrono>
#include <thread>

#include "bench/engine/parts.hpp"
#include "bench/engine/process.hpp"
#include "bench/engine/vectorizer.hpp"

namespace ai::bench {
namespace {

constexpr std::size_t kFew = 10'000;

/// Processor time for a row of a queue of so many.
double CostOfRow(MeasuredVectorizer& vectorizer, long worker, std::size_t rows, double& megabytes) {
  vectorizer.Fill(rows);
  const double before = ProcessSeconds(worker);
  vectorizer.Run([&](std::size_t) { megabytes = std::max(megabytes, PrivateMegabytes(worker)); });
  return (ProcessSeconds(worker) - before) / static_cast<double>(rows);
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

/// The share of a core that all processes take, in percent.
double IdleShare(Database& database) {
  constexpr double kSeconds = 60;  // some things are done once a minute
  const double before = EngineSeconds(database);
  std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
  return (EngineSeconds(database) - before) / kSeconds * 100;
}

}  // namespace

/// The same work from a short queue, before and after, and from a long one.
void MeasureGrowth(Bench& bench) {
  auto& [report, database, mock] = bench;
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

void MeasureDocuments(Bench& bench) {
  constexpr std::size_t kDocuments = 50;
  SetLatency(bench.mock, 0);
  MeasuredVectorizer vectorizer(bench.database, "documents", bench.mock.Url("/v1"), kFewDimensions,
                                "ai.chunking_recursive_character_text_splitter()");
  const long worker = WorkerProcess(bench.database);
  vectorizer.InsertMany(kDocuments, "repeat(md5(g::text) || ' and so on. ', 110000)");
  vectorizer.Enable();
  double most = 0;
  vectorizer.WaitForAll([&](std::size_t) { most = std::max(most, PrivateMegabytes(worker)); });
  vectorizer.Disable();
  bench.report.AtMost("worker's memory with 50 rows of 5 MB", most, "MB", 100);
  bench.database.Run("DROP TABLE " + vectorizer.source() + " CASCADE");
}

/// First with workers on duty, as in the first minute without work; then without, as later on.
void MeasureIdle(Bench& bench) {
  auto& [report, database, mock] = bench;
  const std::string of =
      "with " + database.Run("SELECT count(*) FROM ai.vectorizer") + " vectorizers, of one core";
  database.Run("ALTER SYSTEM SET ai.idle_timeout = -1");
  database.Run("SELECT pg_reload_conf()");
  WorkerProcess(database);
  std::this_thread::sleep_for(std::chrono::seconds(10));  // what was new is looked at
  report.AtMost("workers on duty, nothing to do " + of, IdleShare(database), "%", 0.2);
  database.Run("ALTER SYSTEM SET ai.idle_timeout = 0");
  database.Run("SELECT pg_reload_conf()");
  while (database.Number("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'ai %' "
                         "AND datname = current_database()") > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  report.AtMost("idle " + of, IdleShare(database), "%", 0.1);
}

}  // namespace ai::bench
