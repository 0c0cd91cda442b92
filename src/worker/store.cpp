// Writing rows whose vectors are all there: chunks and the end of the hold on the rows, in one
// transaction.
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/owner_scope.hpp"
#include "worker/extension.hpp"
#include "worker/lane.hpp"
#include "worker/places.hpp"
#include "worker/shared_providers.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {
namespace {

constexpr std::size_t kMostWrittenBytes = std::size_t{4} << 20;  // by one statement

/// Chunks on their way into the target, a column each.
struct ChunkColumns {
  std::vector<Datum> places, numbers, texts, vectors, hashes;

  void Add(const Row& row, std::size_t number, std::vector<float>& buffer) {
    const Chunk& chunk = row.chunks[number];
    places.push_back(pg::TidDatum(&row.place));
    numbers.push_back(Int32GetDatum(static_cast<std::int32_t>(number)));
    texts.push_back(pg::TextDatum(chunk.text));
    vectors.push_back(pg::VectorDatum(chunk.vector.Load(buffer)));
    hashes.push_back(pg::ByteaDatum(chunk.hash));
  }

  void Write(pg::Statement& statement, pg::Spi& spi, Oid vector_type) const {
    statement.Execute(spi, {pg::ArrayDatum(TIDOID, places), pg::ArrayDatum(INT4OID, numbers),
                            pg::ArrayDatum(TEXTOID, texts), pg::ArrayDatum(vector_type, vectors),
                            pg::ArrayDatum(BYTEAOID, hashes)});
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
    columns.Write(statement, spi, vectorizer.vector_type);
  }
}

PlaceSet PlacesFrom(const pg::Rows& rows) {
  PlaceSet places;
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    places.insert(pg::TidAt(*rows.At(i, 0)));
  }
  return places;
}

/// Removes the chunks of each row from a number on.
class Trim final {
 public:
  void Add(const Row& row, std::size_t size) {
    if (row.old_chunks > size || (size == 0 && !row.chunks.empty())) {
      places_.push_back(pg::TidDatum(&row.place));
      sizes_.push_back(Int32GetDatum(static_cast<std::int32_t>(size)));
    }
  }
  void Run(Vectorizer& vectorizer, pg::Spi& spi) const {
    if (!places_.empty()) {
      vectorizer.statements().trim->Execute(
          spi, {pg::ArrayDatum(TIDOID, places_), pg::ArrayDatum(INT4OID, sizes_)});
    }
  }

 private:
  std::vector<Datum> places_;
  std::vector<Datum> sizes_;
};

/// The source is looked at last, when all is written: so somebody who wants to lock it does not
/// wait for thousands of chunks that go into an index. Of rows that it has no more, nothing is
/// left.
void RemoveGone(Vectorizer& vectorizer, pg::Spi& spi, std::span<const RowPtr> rows) {
  vectorizer.LockForReading();
  const auto places = PlacesOf(rows);
  const PlaceSet alive =
      PlacesFrom(vectorizer.statements().alive.Execute(spi, {PlacesDatum(places)}));
  Trim gone;
  for (const RowPtr& row : rows) {
    if (!alive.contains(row->place)) {
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
  const auto places = PlacesOf(rows);
  const PlaceSet alive =
      PlacesFrom(vectorizer.statements().alive.Execute(spi, {PlacesDatum(places)}));
  const PlaceSet locked =
      PlacesFrom(vectorizer.statements().lock->Execute(spi, {PlacesDatum(places)}));
  std::vector<RowPtr> later;
  std::vector<Datum> written;
  std::vector<std::optional<Datum>> vectors;
  std::vector<float> buffer;
  for (const RowPtr& row : rows) {
    if (!alive.contains(row->place)) {
      continue;
    }
    if (!locked.contains(row->place)) {
      later.push_back(row);
      continue;
    }
    written.push_back(pg::TidDatum(&row->place));
    vectors.push_back(row->chunks.empty()
                          ? std::nullopt
                          : std::optional(pg::VectorDatum(row->chunks[0].vector.Load(buffer))));
  }
  if (!written.empty()) {
    vectorizer.statements().update->Execute(
        spi, {pg::ArrayDatum(TIDOID, written), pg::VectorArrayDatum(vectors)});
  }
  return later;
}

}  // namespace

/// Writes what still exists and removes what does not.
std::vector<RowPtr> Vectorizer::Store(Lane& lane, Datum lease, std::span<const RowPtr> rows) {
  std::vector<RowPtr> later;
  std::vector<double> lags;
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    LockForStoring();
    pg::Spi spi;
    pg::RunAsOwner(owner, [&] {
      if (column()) {
        later = StoreInColumn(*this, spi, rows);
      } else {
        StoreInTable(*this, spi, rows);
      }
    });
    std::vector<Place> done;
    for (const RowPtr& row : rows) {
      if (std::find(later.begin(), later.end(), row) == later.end()) {
        done.push_back(row->place);
      }
    }
    const pg::Rows ended = statements().done.Execute(spi, {PlacesDatum(done), lease});
    if (ended.count() != done.size()) {
      throw LostLease();
    }
    for (std::uint64_t i = 0; i < ended.count(); ++i) {
      lags.push_back(DatumGetFloat8(*ended.At(i, 0)));
    }
  }
  transaction.Commit();
  NoteLags(lags);
  lane.usage.rows += static_cast<std::int64_t>(lags.size());
  return later;
}

bool Vectorizer::IsGone(Lane& lane, const RowPtr& row) {
  bool gone = false;
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    LockForReading();
    pg::Spi spi;
    pg::RunAsOwner(owner, [&] {
      const auto alive = statements().alive.Execute(spi, {PlacesDatum(std::span(&row->place, 1))});
      gone = alive.count() == 0;
    });
  }
  transaction.Commit();
  return gone;
}

std::vector<RowPtr> Vectorizer::StillHeld(Lane& lane, Datum lease, std::span<const RowPtr> rows) {
  std::vector<RowPtr> held;
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    pg::Spi spi;
    const auto places = PlacesOf(rows);
    const PlaceSet mine = PlacesFrom(statements().held.Execute(spi, {PlacesDatum(places), lease}));
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(held),
                 [&](const RowPtr& row) { return mine.contains(row->place); });
  }
  transaction.Commit();
  return held;
}

}  // namespace ai::worker
