#include "bench/engine/jobs.hpp"

#include <chrono>
#include <thread>

namespace ai::bench {
namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::minutes kPatience{10};

}  // namespace

MeasuredJobs::MeasuredJobs(Database& database, const std::string& base_url, std::size_t dimensions)
    : database_(database) {
  const std::string number = std::to_string(dimensions);
  embedding_ = "ai.embedding_openai('mock-" + number + "', " + number +
               ", api_key_name => NULL, base_url => '" + base_url + "')";
}

bool MeasuredJobs::Done() {
  return database_.Number(
             "SELECT count(*) FROM (SELECT FROM ai.embedding_jobs WHERE status = "
             "'pending' LIMIT 1) j") == 0 &&
         database_.Number(
             "SELECT count(*) FROM (SELECT FROM ai.embedding_jobs WHERE status = "
             "'processing' LIMIT 1) j") == 0;
}

void MeasuredJobs::Fill(std::size_t jobs) {
  database_.Run("SELECT ai.pause_workers()");
  database_.Run("TRUNCATE ai.embedding_jobs, ai.embedding_job_usage");
  database_.Run(
      "SELECT count(*) FROM ai.create_embedding_job((SELECT array_agg(repeat(md5(g::text) || ' ', "
      "6) || g ORDER BY g) FROM generate_series(1, " +
      std::to_string(jobs) + ") g), " + embedding_ + ")");
}

double MeasuredJobs::Run() {
  database_.Run("SELECT ai.resume_workers()");
  const auto start = std::chrono::steady_clock::now();
  while (!Done()) {
    if (std::chrono::steady_clock::now() > start + kPatience) {
      throw std::runtime_error("the jobs do not come to an end");
    }
    std::this_thread::sleep_for(kLook);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace ai::bench
