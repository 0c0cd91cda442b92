#include "worker/upkeep/index_keeper.hpp"

#include <algorithm>

#include "core/policy/backoff.hpp"
#include "core/policy/check_interval.hpp"
#include "pg/column.hpp"
#include "pg/guard.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/wake.hpp"
#include "worker/upkeep/index_builder.hpp"

namespace ai::worker {

namespace {

constexpr ChildKind kIndexer{"ai indexer", "ai_indexer_main"};
constexpr std::chrono::seconds kCheckInterval{10};  // at least
constexpr std::chrono::minutes kLongestInterval{1};
constexpr std::chrono::seconds kSlotInterval{1};          // while there is no free process slot
constexpr std::chrono::milliseconds kWatchInterval{200};  // checks whether a build blocks others
constexpr policy::Backoff kBetweenTries{std::chrono::minutes(1), std::chrono::minutes(15)};

std::map<std::int32_t, std::string> FindMissingIndexes() {
  std::map<std::int32_t, std::string> wanted;
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute("SELECT id, configuration FROM ai._missing_indexes()");
    const pg::Int4Column id(rows, "id");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      wanted.emplace(id[i], rows.TextAt(i, "configuration").value());
    }
  });
  return wanted;
}

}  // namespace

bool HoldsUpOthers(pid_t pid) {
  bool holds_up = false;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(pid)}};
    holds_up = DatumGetBool(*spi.Execute("SELECT ai._holds_up_others($1)", arguments).At(0, 0));
  });
  return holds_up;
}

SteadyTime IndexKeeper::Turn(SteadyTime now, bool may_start) {
  running_ = builder_.Runs(slot_.indexer, now);
  if (running_) {
    EndIfInTheWay();
    return now + kWatchInterval;
  }
  if (building_ == 0 && now < next_check_) {
    return next_check_;
  }
  next_check_ = now + kCheckInterval;
  waiting_ = false;
  delayed_ = false;
  ShowActivity("checking for indexes to build");
  const Wanted wanted = FindMissingIndexes();
  next_check_ =
      now + policy::CheckInterval(SystemClock().Now() - now, kCheckInterval, kLongestInterval);
  NoteEnd(wanted, now);
  Begin(wanted, now, may_start);
  return next_check_;
}

/// The build is restarted later; DROP TABLE must not have to wait for it.
void IndexKeeper::EndIfInTheWay() {
  const pid_t pid = slot_.indexer.pid;
  if (pid == 0 || in_the_way_ || !HoldsUpOthers(pid)) {
    return;
  }
  in_the_way_ = true;
  {
    const SharedLock lock;
    Terminate(slot_.indexer);
  }
  RecordIndexError(building_,
                   "index build was canceled because another session waited for a lock on the "
                   "table");
}

/// The index is no longer wanted.
void IndexKeeper::NoteEnd(const Wanted& wanted, SteadyTime now) {
  std::erase_if(trouble_, [&](const auto& known) {
    const auto found = wanted.find(known.first);
    return found == wanted.end() || found->second != known.second.configuration;
  });
  const auto found = wanted.find(std::exchange(building_, 0));
  if (found != wanted.end()) {
    Trouble& trouble = trouble_[found->first];
    trouble.configuration = found->second;
    trouble.not_before = now + kBetweenTries.After(++trouble.failures, random_);
  }
}

void IndexKeeper::Begin(const Wanted& wanted, SteadyTime now, bool may_start) {
  for (const auto& [vectorizer, configuration] : wanted) {
    const auto known = trouble_.find(vectorizer);
    if (known != trouble_.end() && now < known->second.not_before) {
      continue;
    }
    if (now < builder_.NotBefore()) {
      delayed_ = true;
      next_check_ = std::min(next_check_, builder_.NotBefore());
    } else if (!may_start) {
      waiting_ = true;
      next_check_ = now + kSlotInterval;
    } else if (builder_.Start(kIndexer, slot_.database, vectorizer, slot_.indexer, now)) {
      building_ = vectorizer;
      in_the_way_ = false;
      running_ = true;
    }
    return;
  }
}

}  // namespace ai::worker
