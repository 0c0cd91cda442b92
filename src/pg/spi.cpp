#include "pg/spi.hpp"

#include <algorithm>

#include "pg/guard.hpp"

namespace ai::pg {

std::optional<Datum> Rows::At(std::uint64_t row, int column) const {
  bool is_null = true;
  const Datum value =
      Call([&] { return SPI_getbinval(table_->vals[row], table_->tupdesc, column + 1, &is_null); });
  if (is_null) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> Rows::TextAt(std::uint64_t row, int column) const {
  char* text = Call([&] { return SPI_getvalue(table_->vals[row], table_->tupdesc, column + 1); });
  if (text == nullptr) {
    return std::nullopt;
  }
  std::string result(text);
  pfree(text);
  return result;
}

int Rows::Find(const char* name, std::span<const Oid> types) const {
  const int number = SPI_fnumber(table_->tupdesc, name) - 1;
  if (number < 0) {
    throw ai::Error(ErrorCode::kInternal, "result has no column " + std::string(name));
  }
  if (!types.empty() && std::find(types.begin(), types.end(), TypeOf(number)) == types.end()) {
    throw ai::Error(ErrorCode::kInternal, "column " + std::string(name) + " of a result has type " +
                                              std::to_string(TypeOf(number)));
  }
  return number;
}

Spi::Spi() : exceptions_at_start_(std::uncaught_exceptions()) {
  Call([] { SPI_connect(); });
}

Spi::~Spi() {
  if (std::uncaught_exceptions() == exceptions_at_start_) {
    SPI_finish();
  }
}

Rows Spi::Execute(const char* sql, std::span<const Argument> arguments, long max_rows) {
  return Run(sql, arguments, false, max_rows);
}

Rows Spi::ExecuteNow(const char* sql, std::span<const Argument> arguments) {
  Call([] { PushActiveSnapshot(GetLatestSnapshot()); });
  const Rows rows = Run(sql, arguments, true, 0);
  Call([] { PopActiveSnapshot(); });
  return rows;
}

Rows Spi::Run(const char* sql, std::span<const Argument> arguments, bool read_only, long max_rows) {
  const int code = Call([&] {
    const int count = static_cast<int>(arguments.size());
    Oid* types = static_cast<Oid*>(palloc(sizeof(Oid) * (arguments.size() + 1)));
    Datum* values = static_cast<Datum*>(palloc(sizeof(Datum) * (arguments.size() + 1)));
    char* nulls = static_cast<char*>(palloc(arguments.size() + 1));
    for (int i = 0; i < count; ++i) {
      types[i] = arguments[i].type;
      values[i] = arguments[i].value;
      nulls[i] = arguments[i].is_null ? 'n' : ' ';
    }
    return SPI_execute_with_args(sql, count, types, values, nulls, read_only, max_rows);
  });
  if (code < 0) {
    throw ai::Error(ErrorCode::kInternal,
                    std::string("SPI could not execute statement: ") + SPI_result_code_string(code),
                    std::string("The statement was: ") + sql);
  }
  return {SPI_tuptable, SPI_processed};
}

}  // namespace ai::pg
