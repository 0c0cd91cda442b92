// Columns of a result by their names, read as C++ values. A name is looked up once per result, so
// reading a value costs no more than by number; and a column of an unexpected type is rejected
// before a value is misread.
#pragma once

#include "pg/datum.hpp"
#include "pg/spi.hpp"

namespace ai::pg {

/// A type of SQL, or several that are the same in memory, as a type of C++.
template <typename T, T (*kRead)(Datum), Oid... kTypes>
class Column final {
 public:
  /// Throws ai::Error if there is no such column. INVARIANT: rows outlive it.
  Column(const Rows& rows, const char* name)
      : rows_(rows), number_(rows.Find(name, std::array<Oid, sizeof...(kTypes)>{kTypes...})) {}

  /// INVARIANT: it is not null there.
  T operator[](std::uint64_t row) const { return kRead(rows_.At(row, number_).value()); }

  std::optional<T> Find(std::uint64_t row) const {
    const auto value = rows_.At(row, number_);
    return value ? std::optional<T>(kRead(*value)) : std::nullopt;
  }
  T Find(std::uint64_t row, T fallback) const { return Find(row).value_or(fallback); }

 private:
  const Rows& rows_;
  int number_;
};

namespace reading {

inline bool Bool(Datum value) {
  return DatumGetBool(value);
}
inline std::int32_t Int4(Datum value) {
  return DatumGetInt32(value);
}
inline std::int64_t Int8(Datum value) {
  return DatumGetInt64(value);
}
inline double Float8(Datum value) {
  return DatumGetFloat8(value);
}
inline Oid ObjectId(Datum value) {
  return DatumGetObjectId(value);
}

}  // namespace reading

using BoolColumn = Column<bool, reading::Bool, BOOLOID>;
using Int4Column = Column<std::int32_t, reading::Int4, INT4OID>;
using Int8Column = Column<std::int64_t, reading::Int8, INT8OID>;
using TimeColumn = Column<TimestampTz, reading::Int8, TIMESTAMPTZOID>;
using Float8Column = Column<double, reading::Float8, FLOAT8OID>;
using OidColumn = Column<Oid, reading::ObjectId, OIDOID>;
using XidColumn = Column<TransactionId, reading::ObjectId, XIDOID>;
/// As UTF-8; valid as long as the rows are.
using TextColumn = Column<std::string_view, Utf8View, TEXTOID>;
using TextArrayColumn =
    Column<std::vector<std::optional<std::string_view>>, TextArray, TEXTARRAYOID>;
/// Of whichever type.
using VectorColumn = Column<std::span<const float>, VectorView>;

}  // namespace ai::pg
