#include "pg/statement.hpp"

#include "pg/guard.hpp"

namespace ai::pg {

Statement::~Statement() {
  if (plan_ != nullptr) {
    SPI_freeplan(plan_);
  }
}

void Statement::Prepare() {
  if (plan_ != nullptr) {
    return;
  }
  plan_ = Call([this] {
    const char* sql = pg_any_to_server(sql_.c_str(), static_cast<int>(sql_.size()), PG_UTF8);
    SPIPlanPtr plan = SPI_prepare(sql, static_cast<int>(types_.size()), types_.data());
    if (plan == nullptr) {
      elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
    }
    SPI_keepplan(plan);
    return plan;
  });
}

Rows Statement::Execute(Spi& /*spi*/, std::initializer_list<Datum> values) {
  Prepare();
  Call([&] {
    const int code = SPI_execute_plan(plan_, const_cast<Datum*>(values.begin()), nullptr, false, 0);
    if (code < 0) {
      elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(code));
    }
  });
  return {SPI_tuptable, SPI_processed};
}

Portal Statement::Open(Spi& /*spi*/, std::initializer_list<Datum> values) {
  Prepare();
  return Call([&] {
    return SPI_cursor_open(nullptr, plan_, const_cast<Datum*>(values.begin()), nullptr, false);
  });
}

Rows Statement::Next(Portal portal, long part) {
  Call([&] { SPI_cursor_fetch(portal, true, part); });
  return {SPI_tuptable, SPI_processed};
}

void Statement::FreeRows() {
  Call([] { SPI_freetuptable(SPI_tuptable); });
}

void Statement::Close(Portal portal) {
  Call([&] { SPI_cursor_close(portal); });
}

}  // namespace ai::pg
