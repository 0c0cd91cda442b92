// INVARIANT: nothing in this file owns C++ memory, so an ereport may pass through all of it.
#include "pg/vectorizer_name.hpp"

namespace ai::pg {
namespace {

SPIPlanPtr plan = nullptr;  // for the life of the process

void Prepare() {
  Oid type = TEXTOID;
  SPIPlanPtr prepared = SPI_prepare(
      "SELECT v.id FROM ai.vectorizer v WHERE v.name OPERATOR(pg_catalog.=) $1", 1, &type);
  if (prepared == nullptr || SPI_keepplan(prepared) != 0) {
    elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
  }
  plan = prepared;
}

[[noreturn]] void RaiseNoSuchVectorizer(const NullableDatum& name) {
  ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
          errmsg("vectorizer \"%s\" does not exist",
                 name.isnull ? "null" : TextDatumGetCString(name.value)),
          errhint("The view ai.vectorizer_status lists the vectorizers."));
  pg_unreachable();
}

}  // namespace

std::int32_t VectorizerIdOf(const NullableDatum& name) {
  if (name.isnull) {
    RaiseNoSuchVectorizer(name);
  }
  SPI_connect();
  if (plan == nullptr) {
    Prepare();
  }
  Datum values[] = {name.value};
  constexpr bool kReadOnly = true;  // sees the snapshot of the calling statement
  if (SPI_execute_plan(plan, values, nullptr, kReadOnly, 1) != SPI_OK_SELECT) {
    elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(SPI_result));
  }
  if (SPI_processed == 0) {
    RaiseNoSuchVectorizer(name);
  }
  bool is_null = false;
  const Datum id = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  SPI_finish();
  return DatumGetInt32(id);
}

}  // namespace ai::pg
