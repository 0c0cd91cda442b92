// The statements by which a worker claims rows of a vectorizer: a row that has been claimed is
// known by its tid in the table of work, together with the lease on it. So no key ever leaves the
// database, whatever its type.
#pragma once

#include "pg/statement.hpp"
#include "worker/statements/names.hpp"
#include "worker/statements/work_rows.hpp"

namespace ai::worker {

/// From one part of the queue: all changes in it whose rows no worker has.
class ClaimChanges final {
 public:
  explicit ClaimChanges(const StatementTexts& texts);

  /// Tids of the queue: from the first one to the one before the end. If rows have priorities,
  /// these are not looked at.
  struct Range {
    Tid begin;
    Tid end;
  };
  struct Result {
    std::vector<Tid> claimed;
    std::size_t seen = 0;                         // changes
    Tid last = {};                                // of these, if there are some
    std::optional<std::int32_t> lowest_priority;  // of these
    std::optional<Tid> first_held;                // of those whose rows workers have
  };
  Result Execute(pg::Spi& spi, const Range& range, std::size_t most, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Rows whose time to be retried has come, those that have waited longest.
class ClaimRetries final {
 public:
  explicit ClaimRetries(const StatementTexts& texts);
  std::vector<Tid> Execute(pg::Spi& spi, std::size_t most, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

/// Rows that a process has died with, whose time has come: those that one has, or that several have
/// (alone).
class ClaimSuspects final {
 public:
  explicit ClaimSuspects(const StatementTexts& texts);
  std::vector<Tid> Execute(pg::Spi& spi, bool alone, std::size_t most, const pg_uuid_t& lease);

 private:
  pg::Statement statement_;
};

}  // namespace ai::worker
