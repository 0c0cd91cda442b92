#include "pg/owner_scope.hpp"

#include "pg/settings.hpp"

namespace ai::pg {

namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// How often the limit is checked, and how often code that catches a cancellation is cancelled
/// again.
constexpr int kTickMilliseconds = 20;
/// Locked rows are retried later: a worker does not wait.
constexpr const char* kLockTimeout = "20ms";

OwnerWatch watch;
std::optional<TimeoutId> timer;  // only in background processes
int depth = 0;                   // of owner scopes

// Written by the handler of the timer.
volatile sig_atomic_t cancelled = false;
volatile sig_atomic_t cancelled_for_others = false;
SteadyClock::time_point deadline;

void OnTick() {
  if (depth == 0) {
    return;
  }
  if (!cancelled) {
    const bool is_late = watch.has_limit && SteadyClock::now() >= deadline;
    cancelled_for_others = !is_late && watch.must_yield != nullptr && watch.must_yield();
    cancelled = is_late || cancelled_for_others;
  }
  if (cancelled) {
    InterruptPending = true;
    QueryCancelPending = true;
    SetLatch(MyLatch);
  }
}

/// PL/pgSQL can catch a cancellation by name in a block, which is a subtransaction. No further one
/// can be started then, so repeated cancellations get out of every block.
void OnSubtransaction(SubXactEvent event, SubTransactionId /*mine*/, SubTransactionId /*parent*/,
                      void* /*argument*/) {
  if (event == SUBXACT_EVENT_START_SUB && depth > 0 && cancelled) {
    ereport(ERROR, errcode(ERRCODE_QUERY_CANCELED),
            errmsg("canceling statement after an earlier cancellation"));
  }
}

void StartTimer() {
  cancelled = false;
  cancelled_for_others = false;
  deadline = SteadyClock::now() + milliseconds(settings.store_timeout);
  enable_timeout_every(*timer,
                       TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kTickMilliseconds),
                       kTickMilliseconds);
}

void StopTimer() {
  disable_timeout(*timer, false);
  if (cancelled) {
    QueryCancelPending = false;  // the last one may have come too late
  }
}

void Set(const char* name, const char* value) {
  set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/// A security-restricted operation cannot create temporary tables, but functions and types in
/// pg_temp.
void RefuseTemporaryObjects() {
  Oid schema = InvalidOid;
  Oid toast_schema = InvalidOid;
  GetTempNamespaceState(&schema, &toast_schema);
  if (OidIsValid(schema)) {
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("cannot create temporary objects in a worker"),
            errhint("Use permanent objects in the triggers and functions of the table."));
  }
}

}  // namespace

const char* OwnerCancelled::what() const noexcept {
  return reason_ == Reason::kTime ? "canceling statement due to ai.store_timeout"
                                  : "canceling statement because it held up rows of other owners";
}

void SetOwnerWatch(const OwnerWatch& new_watch) {
  watch = new_watch;
}

void LimitOwnersTime() {
  Call([] {
    timer = RegisterTimeout(USER_TIMEOUT, OnTick);
    RegisterSubXactCallback(OnSubtransaction, nullptr);
  });
}

bool RunsOwnersCode() noexcept {
  return depth > 0;
}

OwnerScope::OwnerScope(Oid owner) {
  Call([&] {
    GetUserIdAndSecContext(&caller_, &context_);
    SetUserIdAndSecContext(owner,
                           context_ | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
    nest_level_ = NewGUCNestLevel();
    Set("search_path", "pg_catalog, pg_temp");
    if (timer) {
      Set("lock_timeout", kLockTimeout);
    }
  });
  if (watch.begin != nullptr) {
    watch.begin(owner);
  }
  ++depth;
  if (timer && depth == 1) {
    Call(StartTimer);
  }
}

/// If an error unwinds it, the rollback that follows restores the settings.
OwnerScope::~OwnerScope() {
  Leave();
}

void OwnerScope::Leave() noexcept {
  if (!std::exchange(open_, false)) {
    return;
  }
  if (timer && depth == 1) {
    StopTimer();
  }
  --depth;
  if (watch.end != nullptr) {
    watch.end();
  }
  SetUserIdAndSecContext(caller_, context_);
}

void OwnerScope::End() {
  Leave();
  Explain();
  Call([this] {
    AtEOXact_GUC(false, nest_level_);
    if (timer) {
      RefuseTemporaryObjects();
    }
  });
}

void OwnerScope::Explain() {
  Leave();
  if (timer && cancelled) {
    throw OwnerCancelled(cancelled_for_others ? OwnerCancelled::Reason::kShare
                                              : OwnerCancelled::Reason::kTime);
  }
}

}  // namespace ai::pg
