// See flow.hpp: storing.
#include "worker/flow.hpp"

namespace ai::worker {
namespace {

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

}  // namespace

void Flow::Store() {
  for (auto& [id, lane] : lanes_) {
    StoreLane(lane);
  }
}

void Flow::StoreLane(Lane& lane) {
  if (lane.store_after > clock_.Now()) {
    return;
  }
  std::vector<RowPtr> rows;
  rows.swap(lane.ready);
  std::erase_if(rows, [](const RowPtr& row) { return row->over; });
  Storing storing;
  for (std::size_t from = 0; from < rows.size();) {
    std::size_t to = from;
    for (std::size_t bytes = 0; to < rows.size() && bytes < kMostStoredBytes; ++to) {
      bytes += rows[to]->bytes;
    }
    StoreSome(lane, std::span(rows).subspan(from, to - from), storing);
    transport().Drive();
    from = to;
  }
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
    const std::vector<RowPtr> later = lane.vectorizer->Store(lane, lease(), lease_, rows);
    const std::vector<RowPtr> done = Without(rows, later);
    tally_.rows_done += static_cast<std::int64_t>(done.size());
    End(lane, done);
    if (!later.empty()) {
      lane.vectorizer->GiveBack(lane, lease(), later, kLocked);
      End(lane, later);
      look_ = true;
    }
    if (!done.empty()) {
      lane.last_error.clear();
    }
    if (std::any_of(done.begin(), done.end(), HasNewChunks)) {
      lane.rests = 0;
      storing.any = true;
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
  } catch (const pg::Error& error) {
    OnStoreError(lane, rows, error, storing);
  }
}

void Flow::OnStoreError(Lane& lane, std::span<const RowPtr> rows, const pg::Error& error,
                        Storing& storing) {
  if (pg::EndsProcess(error)) {
    throw error;
  }
  if (pg::MeetsLock(error)) {
    lane.ready.insert(lane.ready.end(), rows.begin(), rows.end());
    lane.store_after = clock_.Now() + kLocked;
    return;
  }
  if (IsRenamed(lane, error)) {
    Drop(lane);
    return;
  }
  const pg::Blame blame = pg::BlameOf(error);
  const Failure failure = FailureOf(FailureClass::kTransient, error.what());
  if (blame == pg::Blame::kServer) {
    Drop(lane);
    Rest(lane, "writing", failure);
  } else if (rows.size() > 1) {
    StoreSome(lane, rows.first(rows.size() / 2), storing);
    StoreSome(lane, rows.subspan(rows.size() / 2), storing);
  } else if (blame == pg::Blame::kUnclear) {
    storing.unclear.push_back({rows.front(), failure});
  } else {
    ChargeUnwritten(lane, rows, failure);
  }
}

/// Where others can be stored, a row that could not even alone is to blame itself, now and when it
/// comes again. Where none can, it is the table. Of those that are the first to be tried, the next
/// ones tell.
void Flow::Judge(Lane& lane, Storing storing) {
  std::vector<Doubt> doubts = std::exchange(lane.in_doubt, {});
  const std::size_t known = doubts.size();
  std::move(storing.unclear.begin(), storing.unclear.end(), std::back_inserter(doubts));
  for (Doubt& doubt : doubts) {
    if (doubt.row->over) {
      continue;
    }
    if (storing.any || doubt.row->attempts > 0) {
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
