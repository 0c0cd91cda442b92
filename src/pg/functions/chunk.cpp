// Texts into chunks: ai.chunk, which every ai.chunk_...() function comes down to.
#include "core/json/document.hpp"
#include "core/text/chunking.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/token_tables.hpp"

namespace {

/// Writes chunks as rows (seq, chunk) of the function's result, which goes to disk when it grows.
class RowSink final : public ai::text::ChunkSink {
 public:
  explicit RowSink(const ReturnSetInfo& result) : result_(result) {}

  void Add(std::string_view chunk) override {
    Datum values[] = {Int64GetDatum(sequence_++), ai::pg::TextDatum(chunk)};
    ai::pg::Call([&] {
      bool nulls[] = {false, false};
      tuplestore_putvalues(result_.setResult, result_.setDesc, values, nulls);
      pfree(DatumGetPointer(values[1]));
    });
  }

 private:
  const ReturnSetInfo& result_;
  std::int64_t sequence_ = 0;
};

}  // namespace

AI_FUNCTION(ai_chunk) {
  ai::pg::Call([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) {
    return Datum{0};
  }
  const auto config = ai::json::Document::Parse(ai::pg::JsonText(PG_GETARG_DATUM(0)));
  const auto splitter = ai::text::MakeSplitter(config.root(), ai::pg::TokenLength);
  RowSink sink(*reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo));
  splitter->Split(ai::pg::Utf8View(PG_GETARG_DATUM(1)), sink, ai::pg::ServeInterrupts);
  return Datum{0};
}
