// Transactions as C++ scopes: for background workers, which have to open their own, and
// subtransactions for code inside a user's transaction that must survive an error.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// A transaction of a background worker, with a search_path of its own. Leaving the scope without
/// Commit() rolls it back, also while a pg::Error unwinds. The caller's memory context is current
/// again afterwards.
class Transaction final {
 public:
  Transaction();
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Commits and reports the statistics, without which autovacuum never sees a worker's writes.
  void Commit();

 private:
  MemoryContext caller_context_;
  bool open_ = true;
};

/// A subtransaction. Leaving the scope without Commit() rolls back what was done in it.
class Subtransaction final {
 public:
  Subtransaction();
  ~Subtransaction();
  Subtransaction(const Subtransaction&) = delete;
  Subtransaction& operator=(const Subtransaction&) = delete;

  void Commit();

 private:
  void RestoreCaller() noexcept;
  MemoryContext caller_context_;
  ResourceOwner caller_owner_;
  bool open_ = true;
};

}  // namespace ai::pg
