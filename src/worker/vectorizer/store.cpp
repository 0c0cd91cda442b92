// Stores rows that have all their vectors: writes chunks and ends the leases, in one transaction.
#include "pg/memory.hpp"
#include "pg/owner_scope.hpp"
#include "worker/endpoint/shared_providers.hpp"
#include "worker/process/extension.hpp"
#include "worker/vectorizer/vectorizer.hpp"

namespace ai::worker {

using pipeline::Row;
using pipeline::RowPtr;

namespace {

constexpr std::size_t kMaxWrittenBytes = std::size_t{4} << 20;  // per statement

/// In parts, so that memory is bounded however many there are.
void WriteAll(const Vectorizer& vectorizer, pg::Spi& spi, std::span<const NewChunk> chunks,
              WriteChunks& statement) {
  pg::TurnMemory memory("ai chunks");
  std::vector<float> buffer;
  const std::size_t vector_bytes = vectorizer.dimensions() * sizeof(float);
  while (!chunks.empty()) {
    const pg::TurnMemory::Turn part(memory);
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < chunks.size() && bytes < kMaxWrittenBytes; ++count) {
      bytes += vector_bytes + chunks[count].get().text.size();
    }
    statement.Execute(spi, chunks.first(count), buffer);
    chunks = chunks.subspan(count);
  }
}

/// Removes the chunks of each row from a number on.
class Trim final {
 public:
  void Add(const Row& row, std::size_t size) {
    if (row.old_chunks > size || (size == 0 && !row.chunks.empty())) {
      lengths_.push_back({row.tid, size});
    }
  }
  void Run(Vectorizer& vectorizer, pg::Spi& spi) const {
    if (!lengths_.empty()) {
      vectorizer.statements().table->trim_chunks.Execute(spi, lengths_);
    }
  }

 private:
  std::vector<TrimChunks::Length> lengths_;
};

/// The source is checked last, after everything is written, so that a session that wants to lock it
/// does not wait for thousands of index insertions. Chunks of deleted rows are removed.
void RemoveGone(Vectorizer& vectorizer, pg::Spi& spi, std::span<const RowPtr> rows) {
  vectorizer.LockForReading();
  const TidSet alive = vectorizer.statements().find_alive.Execute(spi, rows);
  Trim gone;
  for (const RowPtr& row : rows) {
    if (!alive.contains(row->tid)) {
      gone.Add(*row, 0);
    }
  }
  gone.Run(vectorizer, spi);
}

void StoreInTable(Vectorizer& vectorizer, pg::Spi& spi, std::span<const RowPtr> rows) {
  std::vector<NewChunk> fresh;
  std::vector<NewChunk> changed;
  Trim shorter;
  for (const RowPtr& row : rows) {
    for (std::size_t i = 0; i < row->chunks.size(); ++i) {
      if (!row->chunks[i].kept) {
        (row->old_chunks == 0 ? fresh : changed).push_back({row.get(), i});
      }
    }
    shorter.Add(*row, row->chunks.size());
  }
  shorter.Run(vectorizer, spi);
  WriteAll(vectorizer, spi, fresh, vectorizer.statements().table->add_chunks);
  WriteAll(vectorizer, spi, changed, vectorizer.statements().table->replace_chunks);
  RemoveGone(vectorizer, spi, rows);
}

/// Returns the rows that are locked.
std::vector<RowPtr> StoreInColumn(Vectorizer& vectorizer, pg::Spi& spi,
                                  std::span<const RowPtr> rows) {
  ColumnStatements& statements = *vectorizer.statements().column;
  const TidSet alive = vectorizer.statements().find_alive.Execute(spi, rows);
  const TidSet locked = statements.lock_source_rows.Execute(spi, rows);
  std::vector<RowPtr> later;
  std::vector<RowPtr> written;
  for (const RowPtr& row : rows) {
    if (!alive.contains(row->tid)) {
      continue;
    }
    (locked.contains(row->tid) ? written : later).push_back(row);
  }
  if (!written.empty()) {
    statements.update_column.Execute(spi, written);
  }
  return later;
}

}  // namespace

/// Writes what still exists and removes what does not.
pipeline::Step<pipeline::Stored> Vectorizer::Store(std::span<const RowPtr> rows) {
  return Attempt([&] {
    pipeline::Stored stored;
    std::vector<double> lags;
    WorkTransaction transaction;
    {
      CheckWorkTable();
      LockForStoring();
      pg::Spi spi;
      pg::RunAsOwner(owner(), [&] {
        if (IntoColumn()) {
          stored.locked = StoreInColumn(*this, spi, rows);
        } else {
          StoreInTable(*this, spi, rows);
        }
      });
      std::vector<RowPtr> done;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(done), [&](const RowPtr& row) {
        return std::find(stored.locked.begin(), stored.locked.end(), row) == stored.locked.end();
      });
      lags = statements().complete.Execute(spi, done, lease());
      if (lags.size() != done.size()) {
        throw LeaseLost();
      }
    }
    transaction.Commit();
    NoteLags(lags);
    stored.usage.rows = static_cast<std::int64_t>(lags.size());
    return stored;
  });
}

pipeline::Step<bool> Vectorizer::IsGone(const RowPtr& row) {
  return Attempt([&] {
    bool gone = false;
    WorkTransaction transaction;
    {
      CheckWorkTable();
      LockForReading();
      pg::Spi spi;
      pg::RunAsOwner(owner(), [&] {
        gone = statements().find_alive.Execute(spi, std::span(&row, 1)).empty();
      });
    }
    transaction.Commit();
    return gone;
  });
}

pipeline::Step<std::vector<RowPtr>> Vectorizer::StillHeld(std::span<const RowPtr> rows) {
  return Attempt([&] {
    std::vector<RowPtr> held;
    WorkTransaction transaction;
    {
      CheckWorkTable();
      pg::Spi spi;
      const TidSet mine = statements().find_held.Execute(spi, rows, lease());
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(held),
                   [&](const RowPtr& row) { return mine.contains(row->tid); });
    }
    transaction.Commit();
    return held;
  });
}

}  // namespace ai::worker
