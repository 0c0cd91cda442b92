#include "worker/statements/loading.hpp"

#include "core/utf8.hpp"
#include "pg/column.hpp"
#include "pg/memory.hpp"

namespace ai::worker {

using pipeline::LoadedRow;

namespace {

/// Rows that are loaded at once.
constexpr long kRowPart = 16;
/// Vectors that are loaded at once.
constexpr long kVectorPart = 100;

// $1 tids of the work table, $2 the maximum number of bytes. The length of a value is known without
// detoasting it.
constexpr const char* kRows = R"(
SELECT k.ctid AS tid, k.attempts, s.*
FROM {work} k
LEFT JOIN LATERAL (
  SELECT z.size, {values}
  FROM (SELECT {columns} FROM {source} s WHERE {s matches k} OFFSET 0) s,
    LATERAL (SELECT {size} AS size OFFSET 0) z) s ON true
WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1))";

// $1 tids, of which each is joined to the rows of the target.
constexpr const char* kChunkHashes = R"(
SELECT k.ctid AS tid, t.*
FROM {work} k,
  LATERAL (SELECT t.chunk_seq::pg_catalog.int4, t.content_hash FROM {target} t
           WHERE {t matches k} OFFSET 0) t
WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1))";

constexpr const char* kVectorsOfRows = R"(
SELECT t.*
FROM {work} k,
  LATERAL (SELECT t.content_hash, t.embedding::{vector} FROM {target} t
           WHERE {t matches k} OFFSET 0) t
WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1))";

constexpr const char* kVectorsOfTexts = R"(
SELECT DISTINCT ON (t.content_hash) t.content_hash, t.embedding::{vector}
FROM {target} t WHERE t.content_hash OPERATOR(pg_catalog.=) ANY ($1))";

/// The loaded columns of kRows: value(expression, name) for each, joined. The first one is c0.
template <typename Of>
std::string Columns(const VectorizerNames& names, std::string_view separator, const Of& value) {
  std::string list;
  for (std::size_t i = 0; i < names.loaded.size(); ++i) {
    list += i == 0 ? std::string_view() : separator;
    list += value(names.loaded[i], "c" + std::to_string(i));
  }
  return list;
}

/// A text, or bytes that are valid text.
std::optional<std::string> TextAt(const pg::Rows& rows, std::uint64_t row, int column) {
  const auto value = rows.At(row, column);
  if (!value) {
    return std::nullopt;
  }
  if (rows.TypeOf(column) == BYTEAOID) {
    const auto bytes = pg::ByteaView(*value);
    return std::string(bytes.begin(), bytes.end());
  }
  return std::string(pg::Utf8View(*value));
}

bool IsText(const std::string& bytes) {
  return utf8::IsValid(bytes) && bytes.find('\0') == std::string::npos;
}

/// The vectors of a result with the columns content_hash and embedding, in parts.
void EachVector(pg::Statement& statement, pg::Spi& spi, Datum argument, const TakeVector& take) {
  pg::TurnMemory memory("ai found vectors");
  statement.Fetch(spi, {argument}, kVectorPart, [&](const pg::Rows& rows) {
    const pg::TurnMemory::Turn part(memory);
    const HashColumn hash(rows, "content_hash");
    const pg::VectorColumn embedding(rows, "embedding");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      take(hash.Find(i, {}), embedding[i]);
    }
    return true;
  });
}

}  // namespace

LoadRows::LoadRows(const StatementTexts& texts)
    : statement_(
          texts.Fill(
              kRows,
              {{"columns", Columns(texts.names, ", ",
                                   [](const auto& expression, const auto& name) {
                                     return expression + " AS " + name;
                                   })},
               {"size", Columns(texts.names, " OPERATOR(pg_catalog.+) ",
                                [](const auto&, const auto& name) {
                                  return "coalesce(pg_catalog.octet_length(s." + name +
                                         "), 0)::pg_catalog.int8";
                                })},
               {"values", Columns(texts.names, ", ",
                                  [](const auto&, const auto& name) {
                                    return "CASE WHEN z.size OPERATOR(pg_catalog.<=) $2 THEN s." +
                                           name + " END AS " + name;
                                  })}}),
          {TIDARRAYOID, INT8OID}),
      columns_(static_cast<int>(texts.names.loaded.size()) - 1) {}

void LoadRows::Execute(pg::Spi& spi, std::span<const Tid> tids, std::size_t most_bytes,
                       const Take& take) {
  const TidDatums datums(tids);
  const Datum most = Int64GetDatum(static_cast<std::int64_t>(most_bytes));
  statement_.Fetch(spi, {datums.Array(), most}, kRowPart, [&](const pg::Rows& rows) {
    const TidColumn tid(rows, "tid");
    const pg::Int4Column attempts(rows, "attempts");
    const pg::Int8Column size(rows, "size");
    const int text = rows.Find("c0");
    bool goes_on = true;
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      LoadedRow row{.tid = tid[i],
                    .attempts = attempts[i],
                    .text = TextAt(rows, i, text),
                    .size = static_cast<std::size_t>(size.Find(i, 0))};
      for (int column = 1; column <= columns_; ++column) {
        row.columns.push_back(TextAt(rows, i, text + column));
      }
      if (rows.TypeOf(text) == BYTEAOID && row.text && !IsText(*row.text)) {
        row.problem = "the bytes of the row are not a text in UTF-8";
      }
      goes_on = take(std::move(row));
    }
    return goes_on;
  });
}

LoadChunkHashes::LoadChunkHashes(const StatementTexts& texts)
    : statement_(texts.Fill(kChunkHashes), {TIDARRAYOID}) {}

std::vector<LoadChunkHashes::OldChunk> LoadChunkHashes::Execute(pg::Spi& spi,
                                                                std::span<const Tid> tids) {
  const pg::Rows rows = statement_.Execute(spi, {TidDatums(tids).Array()});
  const TidColumn tid(rows, "tid");
  const pg::Int4Column number(rows, "chunk_seq");
  const HashColumn hash(rows, "content_hash");
  std::vector<OldChunk> chunks;
  chunks.reserve(rows.count());
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    chunks.push_back({tid[i], number[i], hash.Find(i, {})});
  }
  return chunks;
}

LoadVectorsOfRows::LoadVectorsOfRows(const StatementTexts& texts)
    : statement_(texts.Fill(kVectorsOfRows), {TIDARRAYOID}) {}

void LoadVectorsOfRows::Execute(pg::Spi& spi, std::span<const Tid> tids, const TakeVector& take) {
  const TidDatums datums(tids);
  EachVector(statement_, spi, datums.Array(), take);
}

LoadVectorsOfTexts::LoadVectorsOfTexts(const StatementTexts& texts)
    : statement_(texts.Fill(kVectorsOfTexts), {BYTEAARRAYOID}) {}

void LoadVectorsOfTexts::Execute(pg::Spi& spi, std::span<const policy::ContentHash> hashes,
                                 const TakeVector& take) {
  std::vector<Datum> elements;
  elements.reserve(hashes.size());
  for (const policy::ContentHash& hash : hashes) {
    elements.push_back(pg::ByteaDatum(hash));
  }
  EachVector(statement_, spi, pg::ArrayDatum(BYTEAOID, elements), take);
}

}  // namespace ai::worker
