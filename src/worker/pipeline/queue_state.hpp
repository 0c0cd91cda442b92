// What waits in the tables of a vectorizer, found without a query: for those who poll many, where
// to plan one for each would take longer than all the rest. Waits for nobody and keeps no lock: who
// polls a thousand vectorizers in a transaction would use up the server's.
#pragma once

#include <optional>

#include "core/pipeline/row.hpp"
#include "pg/free_table.hpp"

namespace ai::worker {

struct QueueRequest {
  Oid queue;
  Oid work;
  Oid failed;
  bool whole;        // the queue from end to end, else its last pages
  bool suspects;     // those that a process has died with, too
  bool by_priority;  // rows have priorities of their own
};

struct QueueState {
  pg::TableState tables = pg::TableState::kOpen;
  bool whole = true;  // all of the queue was looked at
  std::optional<pipeline::Tid> first_change = {};
  std::optional<std::int32_t> priority = {};  // of the first row, where rows have some
  std::optional<TimestampTz> next_retry = {};
  std::optional<TimestampTz> next_suspect = {};
};

/// In a transaction, which sees what was committed when this is called.
QueueState PollQueue(const QueueRequest& request);

}  // namespace ai::worker
