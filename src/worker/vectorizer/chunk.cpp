// Chunks loaded rows, and finds chunks whose vectors exist already.
#include <map>

#include "core/utf8.hpp"
#include "pg/guard.hpp"
#include "pg/owner_scope.hpp"
#include "pg/settings.hpp"
#include "worker/process/extension.hpp"
#include "worker/vectorizer/vector_spill.hpp"
#include "worker/vectorizer/vectorizer.hpp"

namespace ai::worker {

using pipeline::Chunk;
using pipeline::LoadedRow;
using pipeline::Row;
using pipeline::RowPtr;
using pipeline::VectorOf;

namespace {

/// Memory of a chunk besides its text and vector.
constexpr std::size_t kChunkOverhead = sizeof(Chunk) + 64;
/// How much larger than the longest text its chunks may be, which overlap and have overhead.
constexpr std::size_t kMaxTimes = 4;

class Cutter final : public text::ChunkSink {
 public:
  Cutter(const Vectorizer& vectorizer, const LoadedRow& read, Row& row)
      : vectorizer_(vectorizer), read_(read), row_(row) {}

  void Add(std::string_view chunk) override {
    std::string text = vectorizer_.Format(chunk, read_.columns);
    if (utf8::Strip(text).empty()) {
      return;
    }
    const auto hash = vectorizer_.hasher()(text);
    const std::size_t number = row_.chunks.size();
    const bool kept = number < read_.old_chunks.size() && IsOld(number, hash);
    row_.bytes += text.size() + kChunkOverhead;
    if (row_.bytes > most_) {
      throw ai::Error(ErrorCode::kLimitExceeded,
                      "chunks of the text exceed the memory limit: " + std::to_string(number) +
                          " chunks use " + std::to_string(most_ >> 10) +
                          " kB; increase the chunk size or ai.max_text_size");
    }
    row_.waiting += kept ? 0 : 1;
    row_.chunks.push_back({std::move(text), hash, kept, {}});
  }

 private:
  bool IsOld(std::size_t number, const policy::ContentHash& hash) const {
    const auto wanted = static_cast<std::int32_t>(number);
    const auto old =
        std::lower_bound(read_.old_chunks.begin(), read_.old_chunks.end(), wanted,
                         [](const auto& left, auto right) { return left.first < right; });
    return old != read_.old_chunks.end() && old->first == wanted && old->second == hash;
  }

  const Vectorizer& vectorizer_;
  const LoadedRow& read_;
  Row& row_;
  const std::size_t most_ =
      kMaxTimes * (static_cast<std::size_t>(pg::settings.max_text_size) << 10);
};

/// Vectors by the hash of their text; if there are many, they are in a file.
class Vectors final {
 public:
  void Add(const policy::ContentHash& hash, std::span<const float> values) {
    bytes_ += values.size_bytes();
    if (bytes_ <= kMaxVectorBytes) {
      auto reply = std::make_shared<provider::Embeddings>();
      reply->dimensions = values.size();
      reply->values.assign(values.begin(), values.end());
      vectors_.emplace(hash, VectorOf{std::move(reply), 0});
      return;
    }
    if (spill_ == nullptr) {
      spill_ = std::make_shared<VectorSpill>(values.size());
    }
    const auto number = spill_->Append(values);
    if (!number) {
      throw ai::Error(ErrorCode::kInternal, number.failure().message);
    }
    vectors_.emplace(hash, VectorOf{nullptr, number.value(), spill_});
  }

  const VectorOf* Find(const policy::ContentHash& hash) const {
    const auto found = vectors_.find(hash);
    return found == vectors_.end() ? nullptr : &found->second;
  }

 private:
  std::map<policy::ContentHash, VectorOf> vectors_;
  std::size_t bytes_ = 0;
  std::shared_ptr<VectorSpill> spill_;
};

/// The vectors in the target for these hashes: of the rows themselves, or with reuse of any row.
Vectors FindVectors(Vectorizer& vectorizer, std::span<const Tid> tids,
                    std::span<const policy::ContentHash> hashes) {
  Vectors found;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const TakeVector keep = [&](const policy::ContentHash& hash, std::span<const float> vector) {
      found.Add(hash, vector);
    };
    TableStatements& statements = *vectorizer.statements().table;
    pg::RunAsOwner(vectorizer.owner(), [&] {
      if (vectorizer.reuse()) {
        statements.load_vectors_of_texts.Execute(spi, hashes, keep);
      } else {
        statements.load_vectors_of_rows.Execute(spi, tids, keep);
      }
    });
  }
  transaction.Commit();
  return found;
}

}  // namespace

Result<RowPtr> Vectorizer::MakeChunks(const LoadedRow& read) const {
  auto row = std::make_shared<Row>();
  row->tid = read.tid;
  row->attempts = read.attempts;
  for (const auto& old : read.old_chunks) {
    row->old_chunks = std::max(row->old_chunks, static_cast<std::size_t>(old.first) + 1);
  }
  row->bytes = sizeof(Row);
  try {
    if (read.text) {
      Cutter cutter(*this, read, *row);
      splitter().Split(*read.text, cutter, pg::ServeInterrupts);
    }
    const std::size_t vectors = row->chunks.size() * dimensions() * sizeof(float);
    if (vectors > kMaxVectorBytes) {
      row->file = std::make_shared<VectorSpill>(dimensions());
    } else {
      row->bytes += vectors;
    }
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
    return Failure{.failure_class = FailureClass::kSuspect, .message = error.what()};
  }
  return row;
}

/// A chunk that moved within its row, or with reuse one that another row has, already has its
/// vector.
pipeline::Step<std::int64_t> Vectorizer::Reuse(std::span<const RowPtr> /*in_progress*/,
                                               std::vector<RowPtr>& rows) {
  if (IntoColumn()) {
    return std::int64_t{0};
  }
  std::vector<Tid> tids;
  std::vector<policy::ContentHash> hashes;
  for (const RowPtr& row : rows) {
    if (row->waiting == 0 || (row->old_chunks == 0 && !reuse_)) {
      continue;
    }
    tids.push_back(row->tid);
    for (const Chunk& chunk : row->chunks) {
      if (!chunk.kept) {
        hashes.push_back(chunk.hash);
      }
    }
  }
  if (tids.empty()) {
    return std::int64_t{0};
  }
  return Attempt([&] {
    const Vectors known = FindVectors(*this, tids, hashes);
    for (const RowPtr& row : rows) {
      for (Chunk& chunk : row->chunks) {
        const VectorOf* found = chunk.kept ? nullptr : known.Find(chunk.hash);
        if (found != nullptr) {
          chunk.vector = *found;
          --row->waiting;
        }
      }
    }
    return std::int64_t{0};
  });
}

}  // namespace ai::worker
