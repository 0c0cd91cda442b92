// A statement that a worker runs repeatedly: prepared at its first run, replanned when the server
// invalidates it, kept for the lifetime of the object. Its text is UTF-8, as in all of C++.
#pragma once

#include "pg/postgres.hpp"
#include "pg/spi.hpp"

namespace ai::pg {

class Statement final {
 public:
  Statement(std::string sql, std::initializer_list<Oid> types)
      : sql_(std::move(sql)), types_(types) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Runs it within the Spi scope of the caller. Null values are not supported.
  Rows Execute(Spi& spi, std::initializer_list<Datum> values);

  /// Reads the result in parts: calls take(Rows) for every part of at most so many rows, until it
  /// returns false. The rows of a part live as long as the call.
  template <typename Take>
  void Fetch(Spi& spi, std::initializer_list<Datum> values, long part, Take take) {
    Portal portal = Open(spi, values);
    for (bool more = true; more;) {
      const Rows rows = Next(portal, part);
      more = rows.count() > 0 && take(rows);
      FreeRows();
    }
    Close(portal);
  }

 private:
  void Prepare();
  Portal Open(Spi& spi, std::initializer_list<Datum> values);
  static Rows Next(Portal portal, long part);
  static void FreeRows();
  static void Close(Portal portal);

  std::string sql_;
  std::vector<Oid> types_;
  SPIPlanPtr plan_ = nullptr;
};

}  // namespace ai::pg
