#include "pg/transaction.hpp"

#include "pg/guard.hpp"

namespace ai::pg {

namespace {

/// A failed rollback leaves the process in an unrecoverable state, and a destructor cannot throw:
/// the process exits and is restarted by its supervisor.
template <typename Fn>
void RollBackOrDie(Fn&& roll_back) noexcept {
  char reason[512] = "";
  try {
    Call(roll_back);
    return;
  } catch (const std::exception& error) {
    strlcpy(reason, error.what(), sizeof(reason));
  }
  ereport(FATAL, errcode(ERRCODE_INTERNAL_ERROR),
          errmsg("could not roll back transaction: %s", reason));
}

/// Session-level advisory locks survive transactions, even failed ones. We take none; those taken
/// by user triggers are released with the transaction they ran in.
void ReleaseSessionLocks() {
  LockReleaseSession(USER_LOCKMETHOD);
}

}  // namespace

Transaction::Transaction() : caller_context_(CurrentMemoryContext) {
  Call([] {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
  });
  try {
    Call([] {
      set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                        GUC_ACTION_LOCAL, true, 0, false);
      PushActiveSnapshot(GetTransactionSnapshot());
    });
  } catch (...) {
    // A constructor that throws gets no destructor call.
    RollBackOrDie([] { AbortCurrentTransaction(); });
    MemoryContextSwitchTo(caller_context_);
    throw;
  }
}

void Transaction::Commit() {
  Call([] {
    // A statement that commits in between, as CREATE INDEX CONCURRENTLY does, leaves none.
    if (ActiveSnapshotSet()) {
      PopActiveSnapshot();
    }
    CommitTransactionCommand();
    ReleaseSessionLocks();
  });
  open_ = false;
  MemoryContextSwitchTo(caller_context_);
  Call([] { pgstat_report_stat(true); });
}

Transaction::~Transaction() {
  if (!open_) {
    return;
  }
  RollBackOrDie([] {
    AbortCurrentTransaction();
    ReleaseSessionLocks();
  });
  MemoryContextSwitchTo(caller_context_);
}

Subtransaction::Subtransaction()
    : caller_context_(CurrentMemoryContext), caller_owner_(CurrentResourceOwner) {
  Call([] { BeginInternalSubTransaction(nullptr); });
  MemoryContextSwitchTo(caller_context_);
}

void Subtransaction::Commit() {
  Call([] { ReleaseCurrentSubTransaction(); });
  open_ = false;
  RestoreCaller();
}

Subtransaction::~Subtransaction() {
  if (!open_) {
    return;
  }
  RollBackOrDie([] { RollbackAndReleaseCurrentSubTransaction(); });
  RestoreCaller();
}

void Subtransaction::RestoreCaller() noexcept {
  MemoryContextSwitchTo(caller_context_);
  CurrentResourceOwner = caller_owner_;
}

}  // namespace ai::pg
