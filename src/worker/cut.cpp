#include "worker/cut.hpp"

#include "core/text/utf8.hpp"
#include "pg/guard.hpp"

namespace ai::worker {
namespace {

/// What a chunk takes beside its text and its vector.
constexpr std::size_t kChunkOverhead = sizeof(Chunk) + 64;

class Cutter final : public text::ChunkSink {
 public:
  Cutter(const Vectorizer& vectorizer, const Read& read, Row& row)
      : vectorizer_(vectorizer), read_(read), row_(row) {}

  void Add(std::string_view chunk) override {
    std::string text = vectorizer_.Format(chunk, read_.columns);
    if (utf8::Strip(text).empty()) {
      return;
    }
    const auto hash = vectorizer_.hasher()(text);
    const std::size_t number = row_.chunks.size();
    const bool kept = number < read_.old_chunks.size() && IsOld(number, hash);
    row_.bytes += text.size() + kChunkOverhead + vectorizer_.dimensions() * sizeof(float);
    row_.waiting += kept ? 0 : 1;
    row_.chunks.push_back({std::move(text), hash, kept, {}});
  }

 private:
  bool IsOld(std::size_t number, const policy::ContentHash& hash) const {
    return std::any_of(read_.old_chunks.begin(), read_.old_chunks.end(), [&](const auto& old) {
      return old.first == static_cast<std::int32_t>(number) && old.second == hash;
    });
  }

  const Vectorizer& vectorizer_;
  const Read& read_;
  Row& row_;
};

}  // namespace

RowPtr CutRow(const Vectorizer& vectorizer, const Read& read) {
  auto row = std::make_shared<Row>();
  row->place = read.place;
  row->attempts = read.attempts;
  for (const auto& old : read.old_chunks) {
    row->old_chunks = std::max(row->old_chunks, static_cast<std::size_t>(old.first) + 1);
  }
  row->bytes = sizeof(Row);
  if (read.text) {
    Cutter cutter(vectorizer, read, *row);
    vectorizer.splitter().Split(*read.text, cutter, pg::ServeInterrupts);
  }
  return row;
}

}  // namespace ai::worker
