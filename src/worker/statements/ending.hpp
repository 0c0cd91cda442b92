// The statements by which a worker ends its leases on rows of a vectorizer. They skip rows that
// another process has claimed since.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// The rows of which this process still holds the lease.
class FindHeld final {
 public:
  explicit FindHeld(const StatementTexts& texts);
  TidSet Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Rows that are stored: removed from the work table, and from the dead letters.
class CompleteRows final {
 public:
  explicit CompleteRows(const StatementTexts& texts);
  /// The latency of each row in seconds, in any order.
  std::vector<double> Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows,
                              const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Releases rows uncharged: others may claim them after the delay.
class ReleaseRows final {
 public:
  explicit ReleaseRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
               std::chrono::milliseconds delay);

 private:
  pg::Statement statement_;
};

/// Releases all rows of this process. A row that was not tried keeps its position, which is
/// retry_at: rows that were tried and failed come after it.
class ReleaseAllRows final {
 public:
  explicit ReleaseAllRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Charges an attempt: the rows are retried after the delay, doubled each time.
class RetryRows final {
 public:
  explicit RetryRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
               std::chrono::milliseconds delay, const Failure& failure);

 private:
  pg::Statement statement_;
};

/// Makes rows dead letters, with an error for each.
class DeadLetterRows final {
 public:
  explicit DeadLetterRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
               std::string_view step, const Failure& failure);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
