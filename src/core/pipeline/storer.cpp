#include "core/pipeline/storer.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxStoredBytes = std::size_t{2} << 20;
constexpr milliseconds kPartOfTurn{100};

/// A row without any is done with, and says nothing of the table that it would be stored in.
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

/// As many rows as can be stored in the time that a transaction may take. One that has failed
/// before is tried alone: it is others that it would keep from being stored.
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
    queue.hand.UnlockDue(now);
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
  const std::vector<RowPtr> rows = queue.hand.TakeReady();
  Outcome outcome;
  std::size_t from = 0;
  while (from < rows.size() && (from == 0 || clock_.Now() < until)) {
    const std::size_t to = EndOfBatch(queue, rows, from);
    Store(queue, std::span(rows).subspan(from, to - from), outcome);
    in_flight_.Drive();
    from = to;
  }
  queue.hand.PutBack(std::span(rows).subspan(from));
  AssignBlame(queue, std::move(outcome));
}

void Storer::Store(Queue& queue, std::span<const RowPtr> some, Outcome& outcome) {
  std::vector<RowPtr> rows;
  std::copy_if(some.begin(), some.end(), std::back_inserter(rows),
               [](const RowPtr& row) { return !row->over; });
  if (rows.empty()) {
    return;
  }
  const SteadyTime start = clock_.Now();
  if (queue.storage.after > start) {
    queue.hand.Ready(rows);
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
  queue.hand.End(done);
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
  // What came for these rows meanwhile was passed over.
  queue.demand.NoteChanges();
}

/// Whose fault an error is, its SQLSTATE does not tell: a trigger can raise any.
void Storer::OnFailure(Queue& queue, std::span<const RowPtr> rows, const StepFailure& failure,
                       Outcome& outcome) {
  switch (failure.trouble) {
    case StepTrouble::kLeaseLost:
      OnLeaseLost(queue, rows);
      return;
    case StepTrouble::kTableLocked:
      StoreLater(queue, rows);
      return;
    case StepTrouble::kTimedOut:
      // What took too long is charged, and the queue is left alone for a while.
      leases_.Charge(queue, rows, "writing", failure);
      leases_.LetGo(queue, "writing", failure);
      return;
    case StepTrouble::kTableGone:
    case StepTrouble::kOutdated:
    case StepTrouble::kYielded:
      leases_.OnTrouble(queue, "writing", failure);
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
    leases_.LetGo(queue, "writing", held.failure());
    return;
  }
  queue.hand.End(Without(rows, held.value()));
  queue.hand.Ready(held.value());
}

void Storer::OnFailedAlone(Queue& queue, const RowPtr& row, const StepFailure& failure,
                           Outcome& outcome) {
  const std::span<const RowPtr> rows(&row, 1);
  if (StoreAsGone(queue, row, outcome)) {
    return;
  }
  if (failure.trouble == StepTrouble::kRowLocked) {
    KeepLocked(queue, rows);
  } else if (failure.trouble == StepTrouble::kAboutRow) {
    leases_.Charge(queue, rows, "writing", failure);
  } else {
    outcome.unexplained.push_back({row, failure, queue.storage.stores});
  }
}

/// A row that the source has no more may be what a foreign key of the target minds: its chunks are
/// removed. False if it is there, and to blame itself, or its table.
bool Storer::StoreAsGone(Queue& queue, const RowPtr& row, Outcome& outcome) {
  const auto gone = queue.source->IsGone(row);
  if (!gone) {
    leases_.OnTrouble(queue, "writing", gone.failure());
    if (!row->over) {
      StoreLater(queue, {&row, 1});  // somebody has locked the source
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

/// Nobody waits for who has locked a table: the rows stay in hand until it is tried again.
void Storer::StoreLater(Queue& queue, std::span<const RowPtr> rows) {
  queue.hand.Ready(rows);
  queue.storage.after = clock_.Now() + queue.storage.NextLockPause(random_);
}

/// Rows that somebody else has locked stay in hand for a while, with their vectors; then they are
/// released.
void Storer::KeepLocked(Queue& queue, std::span<const RowPtr> rows) {
  constexpr int kMostTries = 10;
  if (rows.empty()) {
    return;
  }
  const milliseconds pause = queue.storage.NextLockPause(random_);
  if (queue.storage.locks_met > kMostTries) {
    leases_.Release(queue, rows, pause);
  } else {
    queue.hand.SetLocked(rows, clock_.Now() + pause);
  }
}

/// Where others can be stored, a row that could not even alone is to blame itself, now and when it
/// comes again; for what the server complains of, where they can be stored after it. Where none
/// can, it is the table. Of those that are the first to be tried, the next ones tell.
void Storer::AssignBlame(Queue& queue, Outcome outcome) {
  std::vector<Unexplained> all = queue.hand.TakeUnexplained();
  const std::size_t known = all.size();
  std::move(outcome.unexplained.begin(), outcome.unexplained.end(), std::back_inserter(all));
  std::vector<Unexplained> left;
  for (Unexplained& one : all) {
    if (one.row->over) {
      continue;
    }
    const bool of_server = one.failure.trouble == StepTrouble::kOfServer;
    const bool is_to_blame =
        of_server ? queue.storage.stores > one.stores_before : outcome.any || one.row->attempts > 0;
    if (is_to_blame) {
      leases_.Charge(queue, {&one.row, 1}, "writing", one.failure);
    } else {
      left.push_back(std::move(one));
    }
  }
  std::erase_if(left, [](const Unexplained& one) { return one.row->over; });
  const bool others_fail = known > 0 && left.size() > known;
  queue.hand.SetUnexplained(std::move(left));
  const bool others_may_come = known == 0 || queue.has_untried();
  if (queue.hand.has_unexplained() && (others_fail || !others_may_come)) {
    BlameTable(queue);
  }
}

/// The rows that were tried come after the others next time: they may be to blame nevertheless.
void Storer::BlameTable(Queue& queue) {
  const std::vector<Unexplained> all = queue.hand.TakeUnexplained();
  std::vector<RowPtr> rows;
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
