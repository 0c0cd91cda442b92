#include "worker/upkeep/reconcile_keeper.hpp"

#include <algorithm>

#include "core/policy/backoff.hpp"
#include "core/policy/check_interval.hpp"
#include "pg/column.hpp"
#include "pg/guard.hpp"
#include "worker/process/extension.hpp"
#include "worker/shared/wake.hpp"
#include "worker/upkeep/index_keeper.hpp"

namespace ai::worker {

namespace {

constexpr ChildKind kReconciler{"ai reconciler", "ai_reconciler_main"};
constexpr std::chrono::seconds kCheckInterval{60};  // at least
constexpr std::chrono::minutes kLongestInterval{10};
constexpr std::chrono::milliseconds kWatchInterval{200};  // checks whether it blocks others
constexpr std::chrono::minutes kMaxTime{5};               // the first time; then twice as long
constexpr int kMaxDoublings = 5;
constexpr policy::Backoff kBetweenTries{std::chrono::minutes(1), std::chrono::minutes(15)};

std::set<std::int32_t> Numbers(const char* query) {
  std::set<std::int32_t> numbers;
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute(query);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      numbers.insert(DatumGetInt32(*rows.At(i, 0)));
    }
  });
  return numbers;
}

}  // namespace

SteadyTime ReconcileKeeper::Turn(SteadyTime now, bool may_start) {
  running_ = child_.Runs(slot_.reconciler, now);
  if (running_) {
    EndIfInTheWay(now);
    return now + kWatchInterval;
  }
  NoteEnd(now);
  if (due_.empty() && now >= next_check_) {
    ShowActivity("checking for vectorizers to reconcile");
    try {
      Check(now);
      FindOrphans();
      checking_.Succeeded();
    } catch (const std::exception& error) {
      checking_.Failed(error);
    }
    next_check_ =
        now + policy::CheckInterval(SystemClock().Now() - now, kCheckInterval, kLongestInterval);
  }
  Begin(now, may_start);
  return current_ != 0 ? now + kWatchInterval : next_check_;
}

/// It is retried later: DDL on a table must not have to wait, nor other vectorizers for one whose
/// owner's code does not terminate.
void ReconcileKeeper::EndIfInTheWay(SteadyTime now) {
  const pid_t pid = slot_.reconciler.pid;
  if (pid != 0 && !ended_ && (now >= started_ + MostTime() || HoldsUpOthers(pid))) {
    Yield();
  }
}

void ReconcileKeeper::Yield() {
  ended_ = true;
  const SharedLock lock;
  Terminate(slot_.reconciler);
}

std::chrono::minutes ReconcileKeeper::MostTime() const {
  const auto known = trouble_.find(current_);
  const int failures = known == trouble_.end() ? 0 : known->second.failures;
  return kMaxTime * (1 << std::min(failures, kMaxDoublings));
}

void ReconcileKeeper::NoteEnd(SteadyTime now) {
  const std::int32_t vectorizer = std::exchange(current_, 0);
  if (vectorizer == 0) {
    return;
  }
  child_.Forgive();  // the delay is the vectorizer's, not the next one's
  if (slot_.reconciler.exited_cleanly) {
    trouble_.erase(vectorizer);
    unlogged_.erase(vectorizer);
    return;
  }
  Trouble& trouble = trouble_[vectorizer];
  trouble.not_before = now + kBetweenTries.After(++trouble.failures, random_);
}

void ReconcileKeeper::Check(SteadyTime now) {
  std::set<std::int32_t> found = Numbers("SELECT * FROM ai._vectorizers_out_of_step()");
  if (!slot_.pool.unlogged_checked && !std::exchange(looked_, true)) {
    unlogged_ = Numbers("SELECT * FROM ai._vectorizers_unlogged()");
  }
  slot_.pool.unlogged_checked = unlogged_.empty();
  found.insert(unlogged_.begin(), unlogged_.end());
  std::erase_if(trouble_, [&](const auto& known) { return !found.contains(known.first); });
  for (const std::int32_t vectorizer : found) {
    const auto known = trouble_.find(vectorizer);
    if (known == trouble_.end()) {
      due_.push_front(vectorizer);
    } else if (now >= known->second.not_before) {
      due_.push_back(vectorizer);
    }
  }
}

/// Logs when the number has changed.
void ReconcileKeeper::FindOrphans() {
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute(
        "SELECT pg_catalog.count(*) AS number, pg_catalog.min(object) AS example FROM "
        "ai._orphans()");
    const std::int64_t number = pg::Int8Column(rows, "number")[0];
    if (std::exchange(slot_.pool.orphans_logged, number) == number) {
      return;
    }
    if (number == 0) {
      pg::Call([] { ereport(LOG, errmsg("ai: no orphans are left")); });
      return;
    }
    const std::string example = rows.TextAt(0, "example").value();
    pg::Call([&] {
      ereport(LOG,
              errmsg("ai: found %lld orphans (triggers, tables or restored rows without a "
                     "vectorizer), for example %s",
                     static_cast<long long>(number), example.c_str()),
              errhint("Finish restoring the dump if that is in progress; otherwise run "
                      "ai.drop_orphans() in this database. See ai.health() for details."));
    });
  });
}

void ReconcileKeeper::Begin(SteadyTime now, bool may_start) {
  if (due_.empty() || !may_start) {
    return;
  }
  const std::int32_t vectorizer = due_.front();
  if (!child_.Start(kReconciler, slot_.database, vectorizer, slot_.reconciler, now)) {
    due_.clear();  // until the next check
    return;
  }
  due_.pop_front();
  current_ = vectorizer;
  running_ = true;
  started_ = now;
  ended_ = false;
}

}  // namespace ai::worker
