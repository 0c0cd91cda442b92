// Embedding jobs that are measured: made in one transaction, done when all are counted.
#pragma once

#include <cstddef>
#include <string>

#include "bench/engine/database.hpp"

namespace ai::bench {

class MeasuredJobs {
 public:
  MeasuredJobs(Database& database, const std::string& base_url, std::size_t dimensions);

  /// So many jobs, of texts as those of a measured vectorizer; what was there before is gone.
  /// Returns the seconds from the commit until all are done.
  double Run(std::size_t jobs);

 private:
  std::size_t Done();

  Database& database_;
  std::string embedding_;
};

}  // namespace ai::bench
