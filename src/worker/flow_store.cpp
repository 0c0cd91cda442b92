// See flow.hpp: storing.
#include <algorithm>

#include "core/policy/backoff.hpp"
#include "worker/flow.hpp"
#include "worker/owner_share.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostStoredBytes = std::size_t{2} << 20;

std::vector<RowPtr> Without(std::span<const RowPtr> rows, std::span<const RowPtr> others) {
  std::vector<RowPtr> rest;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(rest), [&](const RowPtr& row) {
    return std::find(others.begin(), others.end(), row) == others.end();
  });
  return rest;
}

/// A row without any is done with, and says nothing of the table that it would be written to.
bool HasNewChunks(const RowPtr& row) {
  return std::any_of(row->chunks.begin(), row->chunks.end(),
                     [](const Chunk& chunk) { return !chunk.kept; });
}

std::size_t NewChunks(const RowPtr& row) {
  return static_cast<std::size_t>(std::count_if(row->chunks.begin(), row->chunks.end(),
                                                [](const Chunk& chunk) { return !chunk.kept; }));
}

std::size_t NewChunks(std::span<const RowPtr> rows) {
  std::size_t count = 0;
  for (const RowPtr& row : rows) {
    count += std::max<std::size_t>(1, NewChunks(row));
  }
  return count;
}

/// As many rows as can be stored in the time that a transaction may take. One that has failed
/// before is tried alone: it is others that it would keep from being stored.
std::size_t EndOfBatch(const Lane& lane, std::span<const RowPtr> rows, std::size_t from) {
  const std::size_t most = lane.store_budget.Chunks();
  std::size_t chunks = 0;
  std::size_t bytes = 0;
  std::size_t to = from;
  while (to < rows.size() && chunks < most && bytes < kMostStoredBytes) {
    if (rows[to]->attempts > 0) {
      return std::max(to, from + 1);
    }
    chunks += std::max<std::size_t>(1, NewChunks(rows[to]));
    bytes += rows[to]->bytes;
    ++to;
  }
  return to;
}

}  // namespace

/// Each owner has a part of the turn, so that nobody waits for all that another has to store.
void Flow::Store() {
  constexpr milliseconds kPartOfTurn{100};
  std::map<Oid, milliseconds> used;
  std::vector<Lane*> lanes;
  for (auto& [id, lane] : lanes_) {
    TryLockedAgain(lane);
    if (!lane.ready.empty() || !lane.in_doubt.empty()) {
      lanes.push_back(&lane);
    }
  }
  std::stable_sort(lanes.begin(), lanes.end(), [](const Lane* left, const Lane* right) {
    return left->stored_at < right->stored_at;
  });
  for (Lane* lane : lanes) {
    milliseconds& time = used[lane->owner];
    if (time >= kPartOfTurn || !MayStore(*lane)) {
      continue;
    }
    const SteadyTime start = clock_.Now();
    StoreLane(*lane, start + kPartOfTurn - time);
    lane->stored_at = clock_.Now();
    time += std::chrono::duration_cast<milliseconds>(lane->stored_at - start);
  }
}

/// A slow owner has the worker for itself.
bool Flow::MayStore(const Lane& lane) const {
  return lane.store_after <= clock_.Now() &&
         (!NeedsWorkerAlone(lane.owner) || !HasRowsOfOthers(lane.owner));
}

void Flow::StoreLane(Lane& lane, SteadyTime until) {
  std::vector<RowPtr> rows;
  rows.swap(lane.ready);
  std::erase_if(rows, [](const RowPtr& row) { return row->over; });
  Storing storing;
  std::size_t from = 0;
  while (from < rows.size() && (from == 0 || clock_.Now() < until)) {
    const std::size_t to = EndOfBatch(lane, rows, from);
    StoreSome(lane, std::span(rows).subspan(from, to - from), storing);
    transport().Drive();
    from = to;
  }
  lane.ready.insert(lane.ready.begin(), rows.begin() + static_cast<std::ptrdiff_t>(from),
                    rows.end());
  Judge(lane, std::move(storing));
}

void Flow::StoreSome(Lane& lane, std::span<const RowPtr> some, Storing& storing) {
  std::vector<RowPtr> rows;
  std::copy_if(some.begin(), some.end(), std::back_inserter(rows),
               [](const RowPtr& row) { return !row->over; });
  if (rows.empty()) {
    return;
  }
  if (lane.store_after > clock_.Now()) {
    lane.ready.insert(lane.ready.end(), rows.begin(), rows.end());
    return;
  }
  try {
    const SteadyTime start = clock_.Now();
    const std::vector<RowPtr> later = lane.vectorizer->Store(lane, lease(), rows);
    lane.store_budget.Took(NewChunks(rows), std::chrono::duration_cast<std::chrono::microseconds>(
                                                clock_.Now() - start));
    const std::vector<RowPtr> done = Without(rows, later);
    tally_.rows_done += static_cast<std::int64_t>(done.size());
    End(lane, done);
    if (!done.empty()) {
      lane.last_error.clear();
      lane.locks_met = 0;
    }
    KeepLocked(lane, later);
    if (std::any_of(done.begin(), done.end(), HasNewChunks)) {
      lane.rests = 0;
      storing.any = true;
      ++lane.stores;
    }
    // What came for these rows meanwhile was passed over.
    lane.changes = true;
  } catch (const LostLease&) {
    Guarded(lane, "writing", [&] {
      const std::vector<RowPtr> held = lane.vectorizer->StillHeld(lane, lease(), rows);
      End(lane, Without(rows, held));
      lane.ready.insert(lane.ready.end(), held.begin(), held.end());
    });
  } catch (const LostPlaces&) {
    Drop(lane);
  } catch (const TableLocked&) {
    StoreLater(lane, rows);
  } catch (const pg::OwnerCancelled& error) {
    OnOwnerCancelled(lane, rows, error);
  } catch (const pg::Error& error) {
    OnStoreError(lane, rows, error, storing);
  }
}

/// Nobody waits for who has locked a table: the rows stay in hand until it is tried again.
void Flow::StoreLater(Lane& lane, std::span<const RowPtr> rows) {
  lane.ready.insert(lane.ready.end(), rows.begin(), rows.end());
  lane.store_after = clock_.Now() + LockPause(lane);
}

/// Rows that somebody else has locked stay in hand for a while, with their vectors; then they are
/// given back.
void Flow::KeepLocked(Lane& lane, std::span<const RowPtr> rows) {
  constexpr int kMostTries = 10;
  if (rows.empty()) {
    return;
  }
  const milliseconds pause = LockPause(lane);
  if (lane.locks_met > kMostTries) {
    GiveBackUncharged(lane, rows, pause);
    return;
  }
  lane.locked.insert(lane.locked.end(), rows.begin(), rows.end());
  lane.locked_until = clock_.Now() + pause;
}

void Flow::TryLockedAgain(Lane& lane) {
  if (!lane.locked.empty() && lane.locked_until <= clock_.Now()) {
    lane.ready.insert(lane.ready.end(), lane.locked.begin(), lane.locked.end());
    lane.locked.clear();
  }
}

milliseconds Flow::LockPause(Lane& lane) {
  constexpr policy::Backoff kPause{std::chrono::seconds(1), std::chrono::seconds(8)};
  return kPause.After(++lane.locks_met, random_);
}

/// What took too long is charged, and the vectorizer rests; what only held up others comes again
/// when there are none.
void Flow::OnOwnerCancelled(Lane& lane, std::span<const RowPtr> rows,
                            const pg::OwnerCancelled& error) {
  const Failure failure = FailureOf(FailureClass::kTransient, error.what());
  if (error.reason() == pg::OwnerCancelled::Reason::kTime) {
    ChargeUnwritten(lane, rows, failure);
    Rest(lane, "writing", failure);
  }
  Drop(lane);
}

/// Whose fault an error is, its SQLSTATE does not tell: a trigger can raise any. Rows that could
/// not be stored together are tried in halves, and at last alone.
void Flow::OnStoreError(Lane& lane, std::span<const RowPtr> rows, const pg::Error& error,
                        Storing& storing) {
  if (EndsProcess(error)) {
    throw error;
  }
  if (IsRenamed(lane, error)) {
    Drop(lane);
  } else if (rows.size() > 1) {
    StoreSome(lane, rows.first(rows.size() / 2), storing);
    StoreSome(lane, rows.subspan(rows.size() / 2), storing);
  } else if (StoreAsGone(lane, rows.front(), storing)) {
    return;
  } else if (pg::MeetsLock(error)) {
    KeepLocked(lane, rows);
  } else if (const Failure failure = FailureOf(FailureClass::kTransient, error.what());
             pg::IsAboutRow(error)) {
    ChargeUnwritten(lane, rows, failure);
  } else {
    storing.unclear.push_back({rows.front(), failure, pg::IsOfServer(error), lane.stores});
  }
}

/// A row that the source has no more may be what a foreign key of the target minds: its chunks are
/// removed. False if it is there, and to blame itself, or its table.
bool Flow::StoreAsGone(Lane& lane, const RowPtr& row, Storing& storing) {
  bool gone = false;
  if (!Guarded(lane, "writing", [&] { gone = lane.vectorizer->IsGone(lane, row); })) {
    if (!row->over) {
      StoreLater(lane, {&row, 1});  // somebody has locked the source
    }
    return true;
  }
  if (!gone || row->chunks.empty()) {
    return false;
  }
  row->chunks.clear();
  StoreSome(lane, {&row, 1}, storing);
  return true;
}

/// Where others can be stored, a row that could not even alone is to blame itself, now and when it
/// comes again; for what the server complains of, where they can be stored after it. Where none
/// can, it is the table. Of those that are the first to be tried, the next ones tell.
void Flow::Judge(Lane& lane, Storing storing) {
  std::vector<Doubt> doubts = std::exchange(lane.in_doubt, {});
  const std::size_t known = doubts.size();
  std::move(storing.unclear.begin(), storing.unclear.end(), std::back_inserter(doubts));
  for (Doubt& doubt : doubts) {
    if (doubt.row->over) {
      continue;
    }
    const bool is_to_blame = doubt.of_server ? lane.stores > doubt.stores_before
                                             : storing.any || doubt.row->attempts > 0;
    if (is_to_blame) {
      ChargeUnwritten(lane, {&doubt.row, 1}, doubt.failure);
    } else {
      lane.in_doubt.push_back(std::move(doubt));
    }
  }
  const bool others_fail = known > 0 && lane.in_doubt.size() > known;
  const bool others_may_come = known == 0 || lane.has_untried();
  if (!lane.in_doubt.empty() && (others_fail || !others_may_come)) {
    RestForTable(lane);
  }
}

/// The rows that were tried come after the others next time: they may be to blame nevertheless.
void Flow::RestForTable(Lane& lane) {
  std::vector<RowPtr> rows;
  for (const Doubt& doubt : lane.in_doubt) {
    rows.push_back(doubt.row);
  }
  Rest(lane, "writing", Failure(lane.in_doubt.front().failure));
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(lane.rests_until - clock_.Now());
  GiveBackUncharged(lane, rows, rest + kBehindOthers);
  Drop(lane);
}

void Flow::ChargeUnwritten(Lane& lane, std::span<const RowPtr> rows, const Failure& failure) {
  Count(failure);
  Guarded(lane, "writing",
          [&] { lane.vectorizer->TryAgain(lane, lease(), rows, "writing", failure); });
  End(lane, rows);
  look_ = true;
}

}  // namespace ai::worker
