// What is pending in the tables of a vectorizer, read without a query: when polling many
// vectorizers, planning a query for each would dominate. Never waits and keeps no lock: polling a
// thousand vectorizers in one transaction would exhaust the lock table.
#pragma once

#include <optional>

#include "core/pipeline/row.hpp"
#include "pg/free_table.hpp"

namespace ai::worker {

struct QueueRequest {
  Oid queue;
  Oid work;
  Oid failed;
  bool whole;        // the whole queue, otherwise its last pages
  bool suspects;     // include rows that a process crashed with
  bool by_priority;  // rows have priorities of their own
};

struct QueueState {
  pg::TableState tables = pg::TableState::kOpen;
  bool whole = true;  // the whole queue was read
  std::optional<pipeline::Tid> first_change = {};
  std::optional<std::int32_t> priority = {};  // of the first row, if rows have priorities
  std::optional<TimestampTz> next_retry = {};
  std::optional<TimestampTz> next_suspect = {};
};

/// Call in a transaction; sees what was committed when it is called.
QueueState PollQueue(const QueueRequest& request);

}  // namespace ai::worker
