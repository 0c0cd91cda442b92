// Rows of a work table, by their tids: as sets, as arrays for statements, and the locks that keep
// them good.
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

/// Tids as a tid or a tid[] for statements; good as long as this is.
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
/// Zeros if the bytes are none.
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

/// Those of tids that were not loaded.
std::vector<Tid> NotLoaded(std::span<const Tid> tids, std::span<const pipeline::LoadedRow> loaded);

/// What is on disk for a table now; another number means that it was rewritten.
struct File {
  Oid number;
  BlockNumber blocks;
};
File FileOf(Oid table);

/// Throws TableRewritten if the table has another file than when its rows were claimed. In a
/// transaction, after which the table is locked against that until the end of it.
void CheckFile(Oid table, Oid number);

/// Claims come one by one, so that every claimer sees what the others have, and none comes while
/// there is a pause. For a work table and the number of its vectorizer, 0 for jobs; till the end of
/// the transaction. Nothing if rows may be claimed.
std::optional<pipeline::Claimed> LockClaims(pg::Spi& spi, Oid work, std::int32_t vectorizer);

/// A count of milliseconds from the database, never early: who looks before the time finds nothing.
inline std::chrono::milliseconds RoundedUp(double count) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(count, 0.0, 1e9)) + 1);
}
inline std::optional<std::chrono::milliseconds> RoundedUp(std::optional<double> count) {
  return count ? std::optional(RoundedUp(*count)) : std::nullopt;
}

}  // namespace ai::worker
