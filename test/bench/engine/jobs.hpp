// Embedding jobs that are measured: made while workers are paused, done when all are counted.
#pragma once

#include <cstddef>
#include <string>

#include "bench/engine/database.hpp"

namespace ai::bench {

class MeasuredJobs {
 public:
  MeasuredJobs(Database& database, const std::string& base_url, std::size_t dimensions);

  /// So many jobs, of texts as those of a measured vectorizer; what was there before is gone.
  void Fill(std::size_t jobs);

  /// Returns the seconds until all are done.
  double Run();

 private:
  bool Done();

  Database& database_;
  std::string embedding_;
};

}  // namespace ai::bench
