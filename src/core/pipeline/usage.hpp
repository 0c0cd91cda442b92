// Usage counted for a queue, to be added to the counters in the database.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/clock.hpp"

namespace ai::pipeline {

struct Usage {
  std::int64_t rows = 0;  // stored, or jobs
  std::int64_t requests = 0;
  std::int64_t input_tokens = 0;
  std::int64_t sent_chunks = 0;
  std::int64_t reused_chunks = 0;
  std::int64_t truncated_chunks = 0;
  WallTime last_row_at = {};

  bool operator==(const Usage&) const = default;

  Usage& operator+=(const Usage& more) {
    rows += more.rows;
    requests += more.requests;
    input_tokens += more.input_tokens;
    sent_chunks += more.sent_chunks;
    reused_chunks += more.reused_chunks;
    truncated_chunks += more.truncated_chunks;
    last_row_at = std::max(last_row_at, more.last_row_at);
    return *this;
  }
};

/// What a worker has done since its last heartbeat.
struct Tally {
  std::int64_t rows_done = 0;
  std::int64_t errors = 0;
  std::string last_error = {};

  void Count(const std::string& error) {
    ++errors;
    last_error = error;
  }
};

}  // namespace ai::pipeline
