#include "worker/statements/storing.hpp"

#include "pg/datum.hpp"
#include "pg/guard.hpp"

namespace ai::worker {

using pipeline::RowPtr;

namespace {

constexpr const char* kAdd = R"(
INSERT INTO {target} ({target key}, chunk_seq, chunk, embedding, content_hash)
SELECT {key of k}, c.seq, c.chunk, c.embedding, c.hash
FROM (SELECT pg_catalog.unnest($1) AS tid, pg_catalog.unnest($2) AS seq,
        pg_catalog.unnest($3) AS chunk, pg_catalog.unnest($4) AS embedding,
        pg_catalog.unnest($5) AS hash) c,
  LATERAL (SELECT * FROM {work} k WHERE k.ctid OPERATOR(pg_catalog.=) c.tid OFFSET 0) k)";

constexpr const char* kOrReplace = R"(
ON CONFLICT ({target key}, chunk_seq) DO UPDATE SET chunk = excluded.chunk,
  embedding = excluded.embedding, content_hash = excluded.content_hash)";

constexpr const char* kTrim = R"(
DELETE FROM {target} t
USING ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS c (tid, size), {work} k
WHERE k.ctid OPERATOR(pg_catalog.=) c.tid AND {t matches k}
  AND t.chunk_seq OPERATOR(pg_catalog.>=) c.size)";

constexpr const char* kAlive = R"(
SELECT k.ctid AS tid
FROM {work} k, LATERAL (SELECT FROM {source} s WHERE {s matches k} OFFSET 0) s
WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1))";

// The same for a column of the source, whose rows have to be locked.
constexpr const char* kAliveToLock = R"(
SELECT k.ctid AS tid FROM {work} k JOIN {source} s ON {s matches k}
WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1) {lock})";

constexpr const char* kUpdate = R"(
UPDATE {source} s SET {column} = c.embedding
FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS c (tid, embedding), {work} k
WHERE k.ctid OPERATOR(pg_catalog.=) c.tid AND {s matches k})";

}  // namespace

WriteChunks::WriteChunks(const StatementTexts& texts, const VectorTypes& types, Mode mode)
    : statement_(texts.Fill(std::string(kAdd) + (mode == Mode::kReplace ? kOrReplace : "")),
                 {TIDARRAYOID, INT4ARRAYOID, TEXTARRAYOID, types.array, BYTEAARRAYOID}),
      vector_type_(types.element) {}

void WriteChunks::Execute(pg::Spi& spi, std::span<const NewChunk> chunks,
                          std::vector<float>& buffer) {
  std::vector<Tid> tids;
  std::vector<Datum> numbers, texts, vectors, hashes;
  for (const NewChunk& chunk : chunks) {
    tids.push_back(chunk.row->tid);
    numbers.push_back(Int32GetDatum(static_cast<std::int32_t>(chunk.number)));
    texts.push_back(pg::TextDatum(chunk.get().text));
    vectors.push_back(pg::VectorDatum(chunk.get().vector.Load(buffer)));
    hashes.push_back(pg::ByteaDatum(chunk.get().hash));
  }
  const Datum all_texts = pg::ArrayDatum(TEXTOID, texts);
  pg::Call([&] {  // a text may be long, and has been copied to the array
    for (const Datum text : texts) {
      pfree(DatumGetPointer(text));
    }
  });
  statement_.Execute(spi,
                     {TidDatums(tids).Array(), pg::ArrayDatum(INT4OID, numbers), all_texts,
                      pg::ArrayDatum(vector_type_, vectors), pg::ArrayDatum(BYTEAOID, hashes)});
}

TrimChunks::TrimChunks(const StatementTexts& texts)
    : statement_(texts.Fill(kTrim), {TIDARRAYOID, INT4ARRAYOID}) {}

void TrimChunks::Execute(pg::Spi& spi, std::span<const Length> lengths) {
  std::vector<Tid> tids;
  std::vector<Datum> sizes;
  for (const Length& length : lengths) {
    tids.push_back(length.tid);
    sizes.push_back(Int32GetDatum(static_cast<std::int32_t>(length.chunks)));
  }
  statement_.Execute(spi, {TidDatums(tids).Array(), pg::ArrayDatum(INT4OID, sizes)});
}

FindAlive::FindAlive(const StatementTexts& texts)
    : statement_(texts.names.embedding_column.empty() ? texts.Fill(kAlive)
                                                      : texts.Fill(kAliveToLock, {{"lock", ""}}),
                 {TIDARRAYOID}) {}

TidSet FindAlive::Execute(pg::Spi& spi, std::span<const RowPtr> rows) {
  return TidSetFrom(statement_.Execute(spi, {TidDatums(rows).Array()}));
}

LockSourceRows::LockSourceRows(const StatementTexts& texts)
    : statement_(texts.Fill(kAliveToLock, {{"lock", "FOR NO KEY UPDATE OF s SKIP LOCKED"}}),
                 {TIDARRAYOID}) {}

TidSet LockSourceRows::Execute(pg::Spi& spi, std::span<const RowPtr> rows) {
  return TidSetFrom(statement_.Execute(spi, {TidDatums(rows).Array()}));
}

UpdateColumn::UpdateColumn(const StatementTexts& texts, const VectorTypes& types)
    : statement_(texts.Fill(kUpdate, {{"column", texts.names.embedding_column}}),
                 {TIDARRAYOID, types.array}),
      vector_type_(types.element) {}

void UpdateColumn::Execute(pg::Spi& spi, std::span<const RowPtr> rows) {
  std::vector<std::optional<Datum>> vectors;
  std::vector<float> buffer;
  for (const RowPtr& row : rows) {
    vectors.push_back(row->chunks.empty()
                          ? std::nullopt
                          : std::optional(pg::VectorDatum(row->chunks[0].vector.Load(buffer))));
  }
  statement_.Execute(spi, {TidDatums(rows).Array(), pg::NullableArrayDatum(vector_type_, vectors)});
}

}  // namespace ai::worker
