#include "worker/index_keeper.hpp"

#include "core/policy/backoff.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/extension.hpp"
#include "worker/index_builder.hpp"
#include "worker/process.hpp"
#include "worker/wake.hpp"

namespace ai::worker {

namespace {

constexpr ChildKind kIndexer{"ai indexer", "ai_indexer_main"};
constexpr std::chrono::seconds kLookInterval{10};
constexpr std::chrono::milliseconds kWatchInterval{200};  // whether a build is in somebody's way
constexpr policy::Backoff kBetweenTries{std::chrono::minutes(1), std::chrono::minutes(15)};

std::map<std::int32_t, std::string> LookForIndexes() {
  std::map<std::int32_t, std::string> wanted;
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute("SELECT id, configuration FROM ai._look_for_indexes()");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      wanted.emplace(DatumGetInt32(*rows.At(i, 0)), *rows.TextAt(i, 1));
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

SteadyTime IndexKeeper::Turn(SteadyTime now) {
  if (builder_.Runs(slot_.indexer, now)) {
    EndIfInTheWay();
    return now + kWatchInterval;
  }
  if (building_ == 0 && now < next_look_) {
    return next_look_;
  }
  next_look_ = now + kLookInterval;
  ShowActivity("looking for indexes to build");
  const Wanted wanted = LookForIndexes();
  NoteEnd(wanted, now);
  Begin(wanted, now);
  return next_look_;
}

/// It begins again from the start later; a table that somebody wants to drop cannot wait.
void IndexKeeper::EndIfInTheWay() {
  const pid_t pid = slot_.indexer.pid;
  if (pid == 0 || in_the_way_ || !HoldsUpOthers(pid)) {
    return;
  }
  in_the_way_ = true;
  {
    const SharedLock lock;
    End(slot_.indexer);
  }
  RecordIndexError(building_,
                   "the build of an index was broken off because somebody waited for a lock on its "
                   "table");
}

/// What was built is not wanted any more.
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

void IndexKeeper::Begin(const Wanted& wanted, SteadyTime now) {
  for (const auto& [vectorizer, configuration] : wanted) {
    const auto known = trouble_.find(vectorizer);
    if (now < builder_.NotBefore() || (known != trouble_.end() && now < known->second.not_before)) {
      continue;
    }
    if (builder_.Start(kIndexer, slot_.database, vectorizer, slot_.indexer, now)) {
      building_ = vectorizer;
      in_the_way_ = false;
      full_server_.Started();
    } else {
      full_server_.Refused(kIndexer.title);
    }
    return;
  }
}

}  // namespace ai::worker
