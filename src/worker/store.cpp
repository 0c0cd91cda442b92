// Writing rows whose vectors are all there: chunks, counters and the end of the hold on the rows,
// in one transaction.
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/role.hpp"
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

/// Those of the rows that had chunks.
std::vector<RowPtr> WithOldChunks(std::span<const RowPtr> rows) {
  std::vector<RowPtr> old;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(old),
               [](const RowPtr& row) { return row->old_chunks > 0; });
  return old;
}

/// Removes chunks that a row had and has no more: all of a row that is gone.
void Trim(Vectorizer& vectorizer, pg::Spi& spi, std::span<const RowPtr> rows) {
  if (rows.empty()) {
    return;
  }
  const auto had = PlacesOf(rows);
  const PlaceSet alive = PlacesFrom(vectorizer.statements().alive.Execute(spi, {PlacesDatum(had)}));
  std::vector<Datum> places;
  std::vector<Datum> sizes;
  for (const RowPtr& row : rows) {
    const std::size_t size = alive.contains(row->place) ? row->chunks.size() : 0;
    if (row->old_chunks > size) {
      places.push_back(pg::TidDatum(&row->place));
      sizes.push_back(Int32GetDatum(static_cast<std::int32_t>(size)));
    }
  }
  if (!places.empty()) {
    vectorizer.statements().trim->Execute(
        spi, {pg::ArrayDatum(TIDOID, places), pg::ArrayDatum(INT4OID, sizes)});
  }
}

/// The statements themselves pass over rows that the source has no more.
void StoreInTable(Vectorizer& vectorizer, pg::Spi& spi, std::span<const RowPtr> rows) {
  std::vector<NewChunk> fresh;
  std::vector<NewChunk> changed;
  for (const RowPtr& row : rows) {
    for (std::size_t i = 0; i < row->chunks.size(); ++i) {
      if (!row->chunks[i].kept) {
        (row->old_chunks == 0 ? fresh : changed).push_back({row.get(), i});
      }
    }
  }
  Trim(vectorizer, spi, WithOldChunks(rows));
  WriteChunks(vectorizer, spi, fresh, *vectorizer.statements().insert);
  WriteChunks(vectorizer, spi, changed, *vectorizer.statements().upsert);
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

void AddToCounters(const Vectorizer& vectorizer, const Usage& usage, pg::Spi& spi,
                   const std::string& lease, std::size_t rows) {
  const std::string model = vectorizer.model();
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(lease)},
                                    {INT4OID, Int32GetDatum(vectorizer.id)},
                                    {INT8OID, Int64GetDatum(static_cast<std::int64_t>(rows))},
                                    {TEXTOID, pg::TextDatum(model)},
                                    {INT8OID, Int64GetDatum(usage.requests)},
                                    {INT8OID, Int64GetDatum(usage.input_tokens)},
                                    {INT8OID, Int64GetDatum(usage.sent_chunks)},
                                    {INT8OID, Int64GetDatum(usage.reused_chunks)},
                                    {INT8OID, Int64GetDatum(usage.truncated_chunks)}};
  spi.Execute(
      "SELECT ai._worker_progress($1::pg_catalog.uuid, $2, $3, NULL), "
      "ai._worker_usage($2, $4, $5, $6, $3, $7, $8, $9)",
      arguments);
}

}  // namespace

/// Writes what still exists and removes what does not.
std::vector<RowPtr> Vectorizer::Store(Lane& lane, Datum lease, const std::string& lease_text,
                                      std::span<const RowPtr> rows) {
  std::vector<RowPtr> later;
  std::vector<double> lags;
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    pg::Spi spi;
    {
      const pg::RoleScope as_owner(owner, pg::RoleTrust::kUsers);
      if (column()) {
        later = StoreInColumn(*this, spi, rows);
      } else {
        StoreInTable(*this, spi, rows);
      }
    }
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
    AddToCounters(*this, lane.usage, spi, lease_text, done.size());
  }
  transaction.Commit();
  NoteLags(lags);
  lane.usage = {};
  return later;
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
