#include "bench/engine/vectorizer.hpp"

#include <chrono>
#include <thread>

namespace ai::bench {
namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::minutes kPatience{10};

/// How many rows were stored in the database, by all vectorizers: counted in shared memory, with
/// each store. The counters in tables come with the heartbeat only.
constexpr const char* kStored =
    "SELECT coalesce((SELECT sum(n) FROM unnest(l.counts) n), 0) FROM ai._lag_histogram() l";

}  // namespace

MeasuredVectorizer::MeasuredVectorizer(Database& database, const std::string& table,
                                       const std::string& base_url, std::size_t dimensions,
                                       const std::string& chunking)
    : database_(database), table_(table) {
  database.Run("CREATE TABLE " + table + " (id bigint PRIMARY KEY, body text)");
  const std::string number = std::to_string(dimensions);
  id_ = database.Run("SELECT ai.create_vectorizer('" + table +
                     "', loading => ai.loading_column('body'), embedding => ai.embedding_openai("
                     "'mock-" +
                     number + "', " + number + ", api_key_name => NULL, base_url => '" + base_url +
                     "'), chunking => " + chunking + ", indexing => ai.indexing_none())");
  Disable();
  stored_before_ = database.Number(kStored);
}

void MeasuredVectorizer::Enable() {
  database_.Run("SELECT ai.enable_vectorizer_schedule(" + id_ + ")");
}

void MeasuredVectorizer::Disable() {
  database_.Run("SELECT ai.disable_vectorizer_schedule(" + id_ + ")");
}

void MeasuredVectorizer::Fill(std::size_t rows) {
  Disable();
  const std::string queue = "ai._vectorizer_q_" + id_;
  const std::string work = "ai._vectorizer_q_work_" + id_;
  // Tables that nothing was ever deleted from, as a new vectorizer's are.
  database_.Run("TRUNCATE " + table_ + ", " + target() + ", " + queue);
  database_.Run("VACUUM " + work);
  database_.Run("INSERT INTO " + table_ + " SELECT g, " + kShortText + " FROM generate_series(1, " +
                std::to_string(rows - 1) + ") g");
  filled_ = rows;
  stored_before_ = database_.Number(kStored);
}

double MeasuredVectorizer::Run(const std::function<void(std::size_t)>& progress) {
  --filled_;
  database_.Run("BEGIN");
  Enable();
  Insert();
  database_.Run("COMMIT");
  const auto start = std::chrono::steady_clock::now();
  WaitForAll(progress);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void MeasuredVectorizer::WaitForAll(const std::function<void(std::size_t)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t stored = Stored(); stored < filled_; stored = Stored()) {
    if (progress) {
      progress(stored);
    }
    if (std::chrono::steady_clock::now() > start + kPatience) {
      throw std::runtime_error("the vectorizer does not come to an end");
    }
    std::this_thread::sleep_for(kLook);
  }
}

void MeasuredVectorizer::Insert() {
  InsertMany(1);
}

void MeasuredVectorizer::InsertMany(std::size_t rows, const std::string& text) {
  const std::string first = std::to_string(filled_ + 1);
  filled_ += rows;
  database_.Run("INSERT INTO " + table_ + " SELECT g, " + text + " FROM generate_series(" + first +
                ", " + std::to_string(filled_) + ") g");
}

std::size_t MeasuredVectorizer::Stored() {
  return static_cast<std::size_t>(database_.Number(kStored) - stored_before_);
}

long WorkerProcess(Database& database) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const std::string pid = database.Run(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'ai worker' AND query <> ''");
    if (!pid.empty()) {
      return std::stol(pid);
    }
    if (std::chrono::steady_clock::now() > start + std::chrono::seconds(30)) {
      throw std::runtime_error("there is no worker");
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace ai::bench
