// Rows of a work table by tid: as sets, as arrays for statements, and the locks that keep tids
// valid.
#pragma once

#include <chrono>
#include <optional>
#include <set>

#include "core/pipeline/source.hpp"
#include "pg/column.hpp"

namespace ai::worker {

using pipeline::Tid;
using TidSet = std::set<Tid>;

inline Tid TidOf(const ItemPointerData& pointer) {
  return {ItemPointerGetBlockNumber(&pointer), ItemPointerGetOffsetNumber(&pointer)};
}

/// Tids as a tid or tid[] datum, valid during the lifetime of this object.
class TidDatums final {
 public:
  explicit TidDatums(std::span<const Tid> tids);
  explicit TidDatums(std::span<const pipeline::RowPtr> rows);

  Datum At(std::size_t index) const { return pg::TidDatum(&pointers_[index]); }
  Datum Array() const;

 private:
  std::vector<ItemPointerData> pointers_;
};

namespace reading {

inline Tid TidFrom(Datum value) {
  return TidOf(pg::TidAt(value));
}
std::vector<Tid> TidArray(Datum value);
/// Zeros if the bytes are not a hash.
policy::ContentHash Hash(Datum value);

}  // namespace reading

using TidColumn = pg::Column<Tid, reading::TidFrom, TIDOID>;
using TidArrayColumn = pg::Column<std::vector<Tid>, reading::TidArray, TIDARRAYOID>;
using HashColumn = pg::Column<policy::ContentHash, reading::Hash, BYTEAOID>;

/// The column tid of a result.
std::vector<Tid> TidsFrom(const pg::Rows& rows);
inline TidSet TidSetFrom(const pg::Rows& rows) {
  const std::vector<Tid> tids = TidsFrom(rows);
  return {tids.begin(), tids.end()};
}

/// The tids that were not loaded.
std::vector<Tid> NotLoaded(std::span<const Tid> tids, std::span<const pipeline::LoadedRow> loaded);

/// The current relfilenode of a table; it changes when the table is rewritten.
struct File {
  Oid number;
  BlockNumber blocks;
};
File FileOf(Oid table);

/// Throws TableRewritten if the table was rewritten since its rows were claimed; otherwise locks it
/// against that until the end of the transaction.
void CheckFile(Oid table, Oid number);

/// Serializes claims until the end of the transaction, so that every claim sees those of others,
/// and returns the remaining pause; nothing if rows may be claimed. For a work table and the id of
/// its vectorizer, 0 for jobs.
std::optional<pipeline::Claimed> LockClaims(pg::Spi& spi, Oid work, std::int32_t vectorizer);

/// A number of milliseconds from the database, rounded up: checking too early finds nothing.
inline std::chrono::milliseconds RoundedUp(double count) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(count, 0.0, 1e9)) + 1);
}
inline std::optional<std::chrono::milliseconds> RoundedUp(std::optional<double> count) {
  return count ? std::optional(RoundedUp(*count)) : std::nullopt;
}

}  // namespace ai::worker
