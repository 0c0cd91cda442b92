// A vectorizer that is measured: its tables, its worker process, and when it has done its work.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "bench/engine/database.hpp"

namespace ai::bench {

/// The text of row g, about 200 characters, no two alike.
inline constexpr const char* kShortText = "repeat(md5(g::text) || ' ', 6) || g";

class MeasuredVectorizer {
 public:
  /// A table of that name with a vectorizer, which rests.
  MeasuredVectorizer(Database& database, const std::string& table, const std::string& base_url,
                     std::size_t dimensions, const std::string& chunking = "ai.chunking_none()");

  /// Replaces what is in the source by so many rows of about 200 characters, all of them queued.
  /// The last one is missing: it comes with Run.
  void Fill(std::size_t rows);

  /// Lets it work until all rows that were filled in are stored; calls back between two looks with
  /// the number of rows that are. Returns the seconds from the commit on.
  double Run(const std::function<void(std::size_t)>& progress = {});

  /// Lets it work, or rest.
  void Enable();
  void Disable();

  /// One more row, or more; returns when it is committed.
  void Insert();
  void InsertMany(std::size_t rows, const std::string& text = kShortText);

  /// Until all that were filled in or inserted are stored; calls back as Run does.
  void WaitForAll(const std::function<void(std::size_t)>& progress = {});

  /// Rows stored since the last Fill.
  std::size_t Stored();

  const std::string& source() const { return table_; }
  std::string target() const { return table_ + "_embedding_store"; }
  std::size_t filled() const { return filled_; }

 private:
  Database& database_;
  std::string table_;
  std::string id_;
  std::size_t filled_ = 0;
  long stored_before_ = 0;
};

/// The process that does the work, when there is one; waits for it.
long WorkerProcess(Database& database);

}  // namespace ai::bench
