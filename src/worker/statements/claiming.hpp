// The statements by which a worker claims rows of a vectorizer. A claimed row is identified by its
// tid in the work table, together with its lease. So no key ever leaves the database, whatever its
// type.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// Claims from one part of the queue: all changes of rows that no worker holds.
class ClaimChanges final {
 public:
  explicit ClaimChanges(const StatementTexts& texts);

  /// Tids of the queue, half-open; ignored if rows have priorities.
  struct Range {
    Tid begin;
    Tid end;
  };
  struct Result {
    std::vector<Tid> claimed;
    std::size_t seen = 0;                         // changes
    Tid last = {};                                // of these, if any
    std::optional<std::int32_t> lowest_priority;  // of these
    std::optional<Tid> first_held;                // of those whose rows workers hold
  };
  Result Execute(pg::Spi& spi, const Range& range, std::size_t most, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Claims rows due for a retry, longest wait first.
class ClaimRetries final {
 public:
  explicit ClaimRetries(const StatementTexts& texts);
  std::vector<Tid> Execute(pg::Spi& spi, std::size_t most, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Claims suspects that are due: rows that one process crashed with, or one that several crashed
/// with (alone).
class ClaimSuspects final {
 public:
  explicit ClaimSuspects(const StatementTexts& texts);
  std::vector<Tid> Execute(pg::Spi& spi, bool alone, std::size_t most, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
