// Chunking: ai.chunk, on which every ai.chunk_...() function is based.
#include "core/text/splitter_cache.hpp"
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

/// A query chunks many texts with one configuration, a session perhaps with a few. Made at first
/// use and kept for the life of the process.
ai::text::SplitterCache& Splitters() {
  constexpr std::size_t kCapacity = 4;
  static auto* splitters = new ai::text::SplitterCache(kCapacity);
  return *splitters;
}

}  // namespace

AI_FUNCTION(ai_chunk) {
  ai::pg::Call([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) {
    return Datum{0};
  }
  const std::string config = ai::pg::JsonText(PG_GETARG_DATUM(0));
  const auto splitter = Splitters().Get(config, ai::pg::TokenLength);
  RowSink sink(*reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo));
  try {
    splitter->Split(ai::pg::Utf8View(PG_GETARG_DATUM(1)), sink, ai::pg::ServeInterrupts);
  } catch (...) {
    Splitters().Forget(config);
    throw;
  }
  return Datum{0};
}
