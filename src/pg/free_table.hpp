// Tables for those who look at many and must wait for none.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

enum class TableState : std::uint8_t { kOpen, kLocked, kGone };

/// A relation with AccessShareLock on it, if nobody has a lock that is in the way. What it does may
/// raise an error of the server, and it owns nothing: call it, and close it, within pg::Call.
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

  /// The lock is not kept: who looks at a thousand tables in a transaction would use up the
  /// server's.
  void Close() {
    if (relation != nullptr) {
      relation_close(relation, AccessShareLock);
    }
  }

  TableState state = TableState::kOpen;
  Relation relation = nullptr;
};

}  // namespace ai::pg
