// The yardstick: a client that has the texts in memory, sends them in batches, so many requests at
// a time, and COPYs the vectors of every reply in binary form. No queue, no claims, no hashes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/engine/database.hpp"

namespace ai::bench {

struct BareRun {
  std::string base_url;
  std::string table;
  std::size_t dimensions;
  std::size_t batch_size;
  std::size_t in_flight;
};

/// Embeds texts; the key of each is its place, from 1. Returns when all vectors have committed.
void RunBareClient(Database& database, const BareRun& run, const std::vector<std::string>& texts);

}  // namespace ai::bench
