// The statements by which a worker ends its leases on rows of a vectorizer. Nothing happens to a
// row whose lease another process has by now.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// Which rows this process still has the lease of.
class FindHeld final {
 public:
  explicit FindHeld(const StatementTexts& texts);
  TidSet Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Rows that are stored: they leave the table of work, and that of dead letters.
class CompleteRows final {
 public:
  explicit CompleteRows(const StatementTexts& texts);
  /// How many seconds each row was waited for, in any order.
  std::vector<double> Execute(pg::Spi& spi, std::span<const pipeline::RowPtr> rows,
                              const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Uncharged: others may have the rows after the delay.
class ReleaseRows final {
 public:
  explicit ReleaseRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
               std::chrono::milliseconds delay);

 private:
  pg::Statement statement_;
};

/// All rows that this process has the lease of. Who is released without having been tried keeps its
/// place in the line, which is retry_at: others that were tried, and failed, come after it.
class ReleaseAllRows final {
 public:
  explicit ReleaseAllRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Charged with an attempt: they are retried after the delay, twice as long each time.
class RetryRows final {
 public:
  explicit RetryRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
               std::chrono::milliseconds delay, const Failure& failure);

 private:
  pg::Statement statement_;
};

/// Rows that nobody shall try again, with an error for each.
class DeadLetterRows final {
 public:
  explicit DeadLetterRows(const StatementTexts& texts);
  void Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
               std::string_view step, const Failure& failure);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
