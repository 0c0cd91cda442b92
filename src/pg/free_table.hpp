// Opens tables without waiting, for polling many of them.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

enum class TableState : std::uint8_t { kOpen, kLocked, kGone };

/// Opens a relation with AccessShareLock unless there is a conflicting lock. May ereport, and owns
/// nothing: open and close it within pg::Call.
struct FreeTable {
  explicit FreeTable(Oid oid) {
    if (!ConditionalLockRelationOid(oid, AccessShareLock)) {
      state = TableState::kLocked;
      return;
    }
    relation = try_relation_open(oid, NoLock);
    if (relation == nullptr) {
      UnlockRelationOid(oid, AccessShareLock);
      state = TableState::kGone;
    }
  }

  /// The lock is not kept: polling a thousand tables in one transaction would exhaust the lock
  /// table.
  void Close() {
    if (relation != nullptr) {
      relation_close(relation, AccessShareLock);
    }
  }

  TableState state = TableState::kOpen;
  Relation relation = nullptr;
};

}  // namespace ai::pg
