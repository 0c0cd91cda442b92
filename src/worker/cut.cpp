// From a row that was read to chunks that have to be embedded, or have been already.
#include <map>

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/role.hpp"
#include "worker/extension.hpp"
#include "worker/places.hpp"
#include "worker/vectorizer.hpp"

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

using Vectors = std::map<policy::ContentHash, VectorOf>;

/// The vectors that the target has for these hashes: of the rows themselves, or with reuse of any
/// row.
Vectors FindVectors(Vectorizer& vectorizer, std::span<const Place> places,
                    std::span<const policy::ContentHash> hashes) {
  Vectors found;
  WorkTransaction transaction;
  {
    const pg::RoleScope as_owner(vectorizer.owner, pg::RoleTrust::kUsers);
    pg::Spi spi;
    const auto keep = [&](const pg::Rows& rows, int hash_column) {
      for (std::uint64_t i = 0; i < rows.count(); ++i) {
        const auto values = pg::VectorView(*rows.At(i, hash_column + 1));
        auto reply = std::make_shared<provider::Embeddings>();
        reply->dimensions = values.size();
        reply->values.assign(values.begin(), values.end());
        found.emplace(HashOf(rows.At(i, hash_column)), VectorOf{std::move(reply), 0});
      }
    };
    if (vectorizer.reuse()) {
      std::vector<Datum> elements;
      for (const policy::ContentHash& hash : hashes) {
        elements.push_back(pg::ByteaDatum(hash));
      }
      keep(vectorizer.statements().reuse->Execute(spi, {pg::ArrayDatum(BYTEAOID, elements)}), 0);
    } else {
      keep(vectorizer.statements().vectors->Execute(spi, {PlacesDatum(places)}), 1);
    }
  }
  transaction.Commit();
  return found;
}

}  // namespace

RowPtr Vectorizer::Cut(const Read& read) const {
  auto row = std::make_shared<Row>();
  row->place = read.place;
  row->attempts = read.attempts;
  for (const auto& old : read.old_chunks) {
    row->old_chunks = std::max(row->old_chunks, static_cast<std::size_t>(old.first) + 1);
  }
  row->bytes = sizeof(Row);
  if (read.text) {
    Cutter cutter(*this, read, *row);
    splitter().Split(*read.text, cutter, pg::ServeInterrupts);
  }
  return row;
}

/// A chunk that moved within its row, or that another row has if that is wanted, has its vector
/// already.
void Vectorizer::Reuse(Lane& /*lane*/, std::vector<RowPtr>& rows) {
  if (column()) {
    return;
  }
  std::vector<Place> places;
  std::vector<policy::ContentHash> hashes;
  for (const RowPtr& row : rows) {
    if (row->waiting == 0 || (row->old_chunks == 0 && !reuse_)) {
      continue;
    }
    places.push_back(row->place);
    for (const Chunk& chunk : row->chunks) {
      if (!chunk.kept) {
        hashes.push_back(chunk.hash);
      }
    }
  }
  if (places.empty()) {
    return;
  }
  const Vectors known = FindVectors(*this, places, hashes);
  for (const RowPtr& row : rows) {
    for (Chunk& chunk : row->chunks) {
      const auto found = chunk.kept ? known.end() : known.find(chunk.hash);
      if (found != known.end()) {
        chunk.vector = found->second;
        --row->waiting;
      }
    }
  }
}

}  // namespace ai::worker
