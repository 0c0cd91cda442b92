#include "core/pipeline/storer.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxStoredBytes = std::size_t{2} << 20;
constexpr milliseconds kPartOfTurn{100};

/// A row without chunks is finished, and is no evidence about the table it would be stored in.
std::size_t NewChunks(const RowPtr& row) {
  return static_cast<std::size_t>(std::count_if(row->chunks.begin(), row->chunks.end(),
                                                [](const Chunk& chunk) { return !chunk.kept; }));
}

std::size_t CostOf(std::span<const RowPtr> rows) {
  std::size_t cost = 0;
  for (const RowPtr& row : rows) {
    cost += std::max<std::size_t>(1, NewChunks(row));
  }
  return cost;
}

/// As many rows as can be stored within the time budget of a transaction. One that has failed
/// before is tried alone, so as not to keep others from being stored.
std::size_t EndOfBatch(const Queue& queue, std::span<const RowPtr> rows, std::size_t from) {
  const std::size_t most = queue.storage.budget.Chunks();
  std::size_t chunks = 0;
  std::size_t bytes = 0;
  std::size_t to = from;
  while (to < rows.size() && chunks < most && bytes < kMaxStoredBytes) {
    if (rows[to]->attempts > 0) {
      return std::max(to, from + 1);
    }
    chunks += std::max<std::size_t>(1, NewChunks(rows[to]));
    bytes += rows[to]->bytes;
    ++to;
  }
  return to;
}

std::vector<RowPtr> Without(std::span<const RowPtr> rows, std::span<const RowPtr> others) {
  std::vector<RowPtr> rest;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(rest), [&](const RowPtr& row) {
    return std::find(others.begin(), others.end(), row) == others.end();
  });
  return rest;
}

}  // namespace

void Storer::Run() {
  std::map<OwnerId, milliseconds> used;
  std::vector<Queue*> due;
  for (auto& [id, queue] : queues_) {
    const SteadyTime now = clock_.Now();
    queue.held.UnlockDue(now);
    if (planner_.Store(queue, now) <= now) {
      due.push_back(&queue);
    }
  }
  std::stable_sort(due.begin(), due.end(), [](const Queue* left, const Queue* right) {
    return left->storage.last_at < right->storage.last_at;
  });
  for (Queue* queue : due) {
    milliseconds& time = used[queue->owner()];
    if (time >= kPartOfTurn) {
      continue;
    }
    const SteadyTime start = clock_.Now();
    StoreReady(*queue, start + kPartOfTurn - time);
    queue->storage.last_at = clock_.Now();
    time += std::chrono::duration_cast<milliseconds>(queue->storage.last_at - start);
  }
}

void Storer::StoreReady(Queue& queue, SteadyTime until) {
  const std::vector<RowPtr> rows = queue.held.TakeReady();
  Outcome outcome;
  std::size_t from = 0;
  while (from < rows.size() && (from == 0 || clock_.Now() < until)) {
    const std::size_t to = EndOfBatch(queue, rows, from);
    Store(queue, std::span(rows).subspan(from, to - from), outcome);
    in_flight_.Drive();
    from = to;
  }
  queue.held.PutBack(std::span(rows).subspan(from));
  AssignBlame(queue, std::move(outcome));
}

void Storer::Store(Queue& queue, std::span<const RowPtr> some, Outcome& outcome) {
  std::vector<RowPtr> rows;
  std::copy_if(some.begin(), some.end(), std::back_inserter(rows),
               [](const RowPtr& row) { return !row->ended; });
  if (rows.empty()) {
    return;
  }
  const SteadyTime start = clock_.Now();
  if (queue.storage.after > start) {
    queue.held.Ready(rows);
    return;
  }
  const auto stored = queue.source->Store(rows);
  if (!stored) {
    OnFailure(queue, rows, stored.failure(), outcome);
    return;
  }
  queue.storage.budget.Took(
      CostOf(rows), std::chrono::duration_cast<std::chrono::microseconds>(clock_.Now() - start));
  OnStored(queue, rows, stored.value(), outcome);
}

void Storer::OnStored(Queue& queue, std::span<const RowPtr> rows, const Stored& stored,
                      Outcome& outcome) {
  const std::vector<RowPtr> done = Without(rows, stored.locked);
  tally_.rows_done += static_cast<std::int64_t>(done.size());
  queue.meter.usage += stored.usage;
  queue.held.End(done);
  if (!done.empty()) {
    queue.meter.usage.last_row_at = clock_.WallNow();
    queue.back_off.last_error.clear();
    queue.storage.locks_met = 0;
  }
  KeepLocked(queue, stored.locked);
  if (std::any_of(done.begin(), done.end(), [](const RowPtr& row) { return NewChunks(row) > 0; })) {
    queue.back_off.times = 0;
    outcome.any = true;
    ++queue.storage.stores;
  }
  // Changes of these rows were skipped meanwhile.
  queue.demand.NoteChanges();
}

/// The SQLSTATE does not tell whose fault an error is: a trigger can raise any.
void Storer::OnFailure(Queue& queue, std::span<const RowPtr> rows, const StepFailure& failure,
                       Outcome& outcome) {
  switch (failure.error) {
    case StepError::kLeaseLost:
      OnLeaseLost(queue, rows);
      return;
    case StepError::kTableLocked:
      StoreLater(queue, rows);
      return;
    case StepError::kTimedOut:
      // Rows that took too long are charged, and the queue backs off.
      leases_.Charge(queue, rows, "writing", failure);
      leases_.ReleaseAfterFailure(queue, "writing", failure);
      return;
    case StepError::kTableGone:
    case StepError::kOutdated:
    case StepError::kYielded:
      leases_.OnStepFailure(queue, "writing", failure);
      return;
    default:
      break;
  }
  if (rows.size() > 1) {
    Store(queue, rows.first(rows.size() / 2), outcome);
    Store(queue, rows.subspan(rows.size() / 2), outcome);
  } else {
    OnFailedAlone(queue, rows.front(), failure, outcome);
  }
}

void Storer::OnLeaseLost(Queue& queue, std::span<const RowPtr> rows) {
  const auto held = queue.source->StillHeld(rows);
  if (!held) {
    leases_.ReleaseAfterFailure(queue, "writing", held.failure());
    return;
  }
  queue.held.End(Without(rows, held.value()));
  queue.held.Ready(held.value());
}

void Storer::OnFailedAlone(Queue& queue, const RowPtr& row, const StepFailure& failure,
                           Outcome& outcome) {
  const std::span<const RowPtr> rows(&row, 1);
  if (StoreAsGone(queue, row, outcome)) {
    return;
  }
  if (failure.error == StepError::kRowLocked) {
    KeepLocked(queue, rows);
  } else if (failure.error == StepError::kRowRejected) {
    leases_.Charge(queue, rows, "writing", failure);
  } else {
    outcome.unexplained.push_back({row, failure, queue.storage.stores});
  }
}

/// A row that was deleted from the source may violate a foreign key of the target: its chunks are
/// removed. False if the row exists, so that it or its table is at fault.
bool Storer::StoreAsGone(Queue& queue, const RowPtr& row, Outcome& outcome) {
  const auto gone = queue.source->IsGone(row);
  if (!gone) {
    leases_.OnStepFailure(queue, "writing", gone.failure());
    if (!row->ended) {
      StoreLater(queue, {&row, 1});  // the source is locked
    }
    return true;
  }
  if (!gone.value() || row->chunks.empty()) {
    return false;
  }
  row->chunks.clear();
  Store(queue, {&row, 1}, outcome);
  return true;
}

/// Does not wait for a table lock: the rows stay held until the retry.
void Storer::StoreLater(Queue& queue, std::span<const RowPtr> rows) {
  queue.held.Ready(rows);
  queue.storage.after = clock_.Now() + queue.storage.NextLockPause(random_);
}

/// Locked rows stay held for a while, with their vectors; then they are released.
void Storer::KeepLocked(Queue& queue, std::span<const RowPtr> rows) {
  constexpr int kMaxTries = 10;
  if (rows.empty()) {
    return;
  }
  const milliseconds pause = queue.storage.NextLockPause(random_);
  if (queue.storage.locks_met > kMaxTries) {
    leases_.Release(queue, rows, pause);
  } else {
    queue.held.SetLocked(rows, clock_.Now() + pause);
  }
}

/// If other rows can be stored, a row that could not be, even alone, is itself at fault, now and on
/// its next attempt; for errors of the server only if others are stored after it. If none can be,
/// the table is at fault. For the first rows tried, the next ones will show.
void Storer::AssignBlame(Queue& queue, Outcome outcome) {
  std::vector<Unexplained> all = queue.held.TakeUnexplained();
  const std::size_t known = all.size();
  std::move(outcome.unexplained.begin(), outcome.unexplained.end(), std::back_inserter(all));
  std::vector<Unexplained> left;
  for (Unexplained& one : all) {
    if (one.row->ended) {
      continue;
    }
    const bool of_server = one.failure.error == StepError::kServer;
    const bool is_to_blame =
        of_server ? queue.storage.stores > one.stores_before : outcome.any || one.row->attempts > 0;
    if (is_to_blame) {
      leases_.Charge(queue, {&one.row, 1}, "writing", one.failure);
    } else {
      left.push_back(std::move(one));
    }
  }
  std::erase_if(left, [](const Unexplained& one) { return one.row->ended; });
  const bool others_fail = known > 0 && left.size() > known;
  queue.held.SetUnexplained(std::move(left));
  const bool others_may_come = known == 0 || queue.has_untried();
  if (queue.held.has_unexplained() && (others_fail || !others_may_come)) {
    BlameTable(queue);
  }
}

/// The rows that were tried come last next time: they may be at fault nevertheless.
void Storer::BlameTable(Queue& queue) {
  const std::vector<Unexplained> all = queue.held.TakeUnexplained();
  std::vector<RowPtr> rows;
  rows.reserve(all.size());
  for (const Unexplained& one : all) {
    rows.push_back(one.row);
  }
  leases_.BackOffFor(queue, "writing", all.front().failure);
  const auto rest = std::chrono::ceil<milliseconds>(queue.back_off.until - clock_.Now());
  leases_.Release(queue, rows, rest + kBehindOthers);
  if (queue.source != nullptr) {
    leases_.Drop(queue);
  }
}

}  // namespace ai::pipeline
