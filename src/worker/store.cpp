// Writing rows whose vectors are all there: chunks and the end of the hold on the rows, in one
// transaction.
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/owner_scope.hpp"
#include "worker/extension.hpp"
#include "worker/shared_providers.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {

using pipeline::Chunk;
using pipeline::Row;
using pipeline::RowPtr;

namespace {

constexpr std::size_t kMostWrittenBytes = std::size_t{4} << 20;  // by one statement

/// Chunks on their way into the target, a column each.
struct ChunkColumns {
  std::vector<Tid> tids;
  std::vector<Datum> numbers, texts, vectors, hashes;

  void Add(const Row& row, std::size_t number, std::vector<float>& buffer) {
    const Chunk& chunk = row.chunks[number];
    tids.push_back(row.tid);
    numbers.push_back(Int32GetDatum(static_cast<std::int32_t>(number)));
    texts.push_back(pg::TextDatum(chunk.text));
    vectors.push_back(pg::VectorDatum(chunk.vector.Load(buffer)));
    hashes.push_back(pg::ByteaDatum(chunk.hash));
  }

  void Write(pg::Statement& statement, pg::Spi& spi, Oid vector_type) const {
    const TidDatums datums(tids);
    statement.Execute(
        spi, {datums.Array(), pg::ArrayDatum(INT4OID, numbers), pg::ArrayDatum(TEXTOID, texts),
              pg::ArrayDatum(vector_type, vectors), pg::ArrayDatum(BYTEAOID, hashes)});
  }
};

/// A chunk that has to be written.
struct NewChunk {
  const Row* row;
  std::size_t number;
};

/// Some at a time, so that it does not matter how many there are.
void WriteChunks(Vectorizer& vectorizer, pg::Spi& spi, std::span<const NewChunk> chunks,
                 pg::Statement& statement) {
  pg::TurnMemory memory("ai chunks");
  std::vector<float> buffer;
  const std::size_t vector_bytes = vectorizer.dimensions() * sizeof(float);
  for (auto next = chunks.begin(); next != chunks.end();) {
    const pg::TurnMemory::Turn part(memory);
    ChunkColumns columns;
    for (std::size_t bytes = 0; next != chunks.end() && bytes < kMostWrittenBytes; ++next) {
      columns.Add(*next->row, next->number, buffer);
      bytes += vector_bytes + next->row->chunks[next->number].text.size();
    }
    columns.Write(statement, spi, vectorizer.vector_type());
  }
}

/// Removes the chunks of each row from a number on.
class Trim final {
 public:
  void Add(const Row& row, std::size_t size) {
    if (row.old_chunks > size || (size == 0 && !row.chunks.empty())) {
      tids_.push_back(row.tid);
      sizes_.push_back(Int32GetDatum(static_cast<std::int32_t>(size)));
    }
  }
  void Run(Vectorizer& vectorizer, pg::Spi& spi) const {
    if (!tids_.empty()) {
      const TidDatums datums(tids_);
      vectorizer.statements().trim->Execute(spi, {datums.Array(), pg::ArrayDatum(INT4OID, sizes_)});
    }
  }

 private:
  std::vector<Tid> tids_;
  std::vector<Datum> sizes_;
};

/// The source is looked at last, when all is written: so somebody who wants to lock it does not
/// wait for thousands of chunks that go into an index. Of rows that it has no more, nothing is
/// left.
void RemoveGone(Vectorizer& vectorizer, pg::Spi& spi, std::span<const RowPtr> rows) {
  vectorizer.LockForReading();
  const TidDatums tids(rows);
  const TidSet alive = TidSetFrom(vectorizer.statements().alive.Execute(spi, {tids.Array()}));
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
  WriteChunks(vectorizer, spi, fresh, *vectorizer.statements().insert);
  WriteChunks(vectorizer, spi, changed, *vectorizer.statements().upsert);
  RemoveGone(vectorizer, spi, rows);
}

/// Returns the rows that are locked.
std::vector<RowPtr> StoreInColumn(Vectorizer& vectorizer, pg::Spi& spi,
                                  std::span<const RowPtr> rows) {
  const TidDatums tids(rows);
  const TidSet alive = TidSetFrom(vectorizer.statements().alive.Execute(spi, {tids.Array()}));
  const TidSet locked = TidSetFrom(vectorizer.statements().lock->Execute(spi, {tids.Array()}));
  std::vector<RowPtr> later;
  std::vector<Tid> written;
  std::vector<std::optional<Datum>> vectors;
  std::vector<float> buffer;
  for (const RowPtr& row : rows) {
    if (!alive.contains(row->tid)) {
      continue;
    }
    if (!locked.contains(row->tid)) {
      later.push_back(row);
      continue;
    }
    written.push_back(row->tid);
    vectors.push_back(row->chunks.empty()
                          ? std::nullopt
                          : std::optional(pg::VectorDatum(row->chunks[0].vector.Load(buffer))));
  }
  if (!written.empty()) {
    const TidDatums datums(written);
    vectorizer.statements().update->Execute(spi, {datums.Array(), pg::VectorArrayDatum(vectors)});
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
        if (column()) {
          stored.locked = StoreInColumn(*this, spi, rows);
        } else {
          StoreInTable(*this, spi, rows);
        }
      });
      std::vector<RowPtr> done;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(done), [&](const RowPtr& row) {
        return std::find(stored.locked.begin(), stored.locked.end(), row) == stored.locked.end();
      });
      const pg::Rows ended = statements().done.Execute(spi, {TidDatums(done).Array(), lease()});
      if (ended.count() != done.size()) {
        throw LeaseLost();
      }
      for (std::uint64_t i = 0; i < ended.count(); ++i) {
        lags.push_back(DatumGetFloat8(*ended.At(i, 0)));
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
      const TidDatums tid(std::span(&row, 1));
      pg::RunAsOwner(owner(),
                     [&] { gone = statements().alive.Execute(spi, {tid.Array()}).count() == 0; });
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
      const TidDatums tids(rows);
      const TidSet mine = TidSetFrom(statements().held.Execute(spi, {tids.Array(), lease()}));
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(held),
                   [&](const RowPtr& row) { return mine.contains(row->tid); });
    }
    transaction.Commit();
    return held;
  });
}

}  // namespace ai::worker
