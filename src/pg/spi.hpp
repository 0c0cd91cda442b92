// SQL from C++: a scope for SPI, statements with typed arguments, rows with typed columns.
// Statements take their values as arguments, never by pasting them into the text.
#pragma once

#include "pg/postgres.hpp"

namespace ai::pg {

/// One argument of a statement.
struct Argument {
  Oid type;
  Datum value;
  bool is_null = false;
};

/// The result of a statement. Its rows live until the Spi scope that made it ends.
class Rows final {
 public:
  Rows(SPITupleTable* table, std::uint64_t count) noexcept : table_(table), count_(count) {}

  /// Rows returned, or affected where the statement returns none.
  std::uint64_t count() const noexcept { return count_; }

  /// The value at a row and a column, both from 0; nullopt is SQL's null.
  std::optional<Datum> At(std::uint64_t row, int column) const;

  /// The same in its text form, in the database's encoding.
  std::optional<std::string> TextAt(std::uint64_t row, int column) const;

  /// The number of a column; see column.hpp for a better way to read it. Throws ai::Error if it
  /// does not exist, or has none of the given types.
  int Find(const char* name, std::span<const Oid> types = {}) const;

  std::optional<std::string> TextAt(std::uint64_t row, const char* name) const {
    return TextAt(row, Find(name));
  }

  /// The type of a column.
  Oid TypeOf(int column) const noexcept { return TupleDescAttr(table_->tupdesc, column)->atttypid; }

 private:
  SPITupleTable* table_;
  std::uint64_t count_;
};

/// A connection to SPI. When an error unwinds it, the rollback that must follow disconnects.
class Spi final {
 public:
  Spi();
  ~Spi();
  Spi(const Spi&) = delete;
  Spi& operator=(const Spi&) = delete;

  /// Runs one statement; max_rows 0 means all. Throws pg::Error as the statement fails.
  Rows Execute(const char* sql, std::span<const Argument> arguments = {}, long max_rows = 0);

  /// The same for a read-only statement that sees everything committed by now, regardless of the
  /// isolation level.
  Rows ExecuteNow(const char* sql, std::span<const Argument> arguments = {});

 private:
  Rows Run(const char* sql, std::span<const Argument> arguments, bool read_only, long max_rows);

  int exceptions_at_start_;
};

}  // namespace ai::pg
