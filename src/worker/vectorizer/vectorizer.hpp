// A vectorizer as a worker uses it: its configuration parsed, its statements prepared.
#pragma once

#include "core/policy/content_hash.hpp"
#include "core/text/splitter.hpp"
#include "core/text/template.hpp"
#include "worker/statements/definition.hpp"
#include "worker/statements/vectorizer_statements.hpp"
#include "worker/vectorizer/embedding_source.hpp"

namespace ai::worker {

/// How far a worker has scanned a queue. The queue is ordered only by its pages: a scan runs from
/// the first change to what was the end when it began, then starts over. Entries added beyond that
/// end, or on recycled pages, are found by the next scan after a poll of the whole queue, so
/// nothing starves.
struct QueueScan {
  Tid next = {};
  BlockNumber end = 0;
  bool under_way = false;
  bool found = false;               // this scan has found entries
  std::optional<Tid> skipped = {};  // the first entry of a row that a worker holds
};

class Vectorizer final : public EmbeddingSource {
 public:
  /// Reads it from the catalog. Throws ai::Error if its configuration is invalid; pg::Error if one
  /// of its tables was dropped.
  Vectorizer(pg::Spi& spi, std::int32_t id, const SourceContext& context);

  // The steps: claiming and loading in claim.cpp, chunk.cpp, store.cpp, ending.cpp.
  pipeline::Step<pipeline::Claimed> Claim(const pipeline::ClaimRequest& request) override;
  pipeline::Step<std::vector<pipeline::LoadedRow>> Load(std::size_t bytes) override;
  pipeline::Step<> ReleaseUnread(std::size_t keep) override;
  Result<pipeline::RowPtr> MakeChunks(const pipeline::LoadedRow& row) const override;
  pipeline::Step<std::int64_t> Reuse(std::span<const pipeline::RowPtr> in_progress,
                                     std::vector<pipeline::RowPtr>& rows) override;
  pipeline::Step<pipeline::Stored> Store(std::span<const pipeline::RowPtr> rows) override;
  pipeline::Step<bool> IsGone(const pipeline::RowPtr& row) override;
  pipeline::Step<std::vector<pipeline::RowPtr>> StillHeld(
      std::span<const pipeline::RowPtr> rows) override;
  pipeline::Step<> Release(std::span<const pipeline::RowPtr> rows,
                           std::chrono::milliseconds delay) override;
  pipeline::Step<> ReleaseAll() override;
  pipeline::Step<> Retry(std::span<const pipeline::RowPtr> rows, std::string_view step,
                         const Failure& failure) override;
  pipeline::Step<> DeadLetter(std::span<const pipeline::RowPtr> rows, std::string_view step,
                              const Failure& failure) override;

  const std::int32_t id;
  const VectorizerDefinition definition;

  const json::Value config() const { return definition.config.root(); }
  const json::Value embedding() const override { return config().At("embedding"); }
  const text::Splitter& splitter() const { return *splitter_; }
  const policy::ContentHasher& hasher() const { return *hasher_; }
  VectorizerStatements& statements() { return *statements_; }

  bool reuse() const { return reuse_; }

  using EmbeddingSource::dimensions;
  using EmbeddingSource::owner;

  /// Lock the tables against DDL until the end of the transaction. Throw TableLocked if one is
  /// locked already.
  void LockForReading() const;
  void LockForStoring() const;

  /// The text that is embedded and stored for a chunk. Columns come in the order of the template's
  /// placeholders, without $chunk.
  std::string Format(std::string_view chunk,
                     std::span<const std::optional<std::string>> columns) const;

 private:
  void ReadProcessing();
  bool IntoColumn() const { return statements_->column.has_value(); }  // of the source
  void ClaimRetries(pg::Spi& spi, std::size_t most, pipeline::Claimed& claimed);
  void ClaimSuspects(pg::Spi& spi, pipeline::Claimed& claimed);
  void ClaimChanges(pg::Spi& spi, const pipeline::ClaimRequest& request,
                    pipeline::Claimed& claimed);
  void EndLeases(std::span<const pipeline::RowPtr> rows,
                 const std::function<void(pg::Spi&, std::span<const Tid>)>& body);
  bool HasWorkTable() const;
  void CheckWorkTable() const { CheckFile(definition.work, work_file_); }
  /// Whether its statements are outdated, because a table or column was renamed.
  bool IsOutdated();

  template <typename Body>
  auto Attempt(const Body& body) {
    return RunStep([this] { return IsOutdated(); }, body);
  }

  std::unique_ptr<text::Splitter> splitter_;
  std::optional<text::Template> template_;
  std::optional<policy::ContentHasher> hasher_;
  std::unique_ptr<VectorizerStatements> statements_;
  QueueScan scan_;
  bool alone_last_ = false;     // the last suspect claimed was a single one
  Oid work_file_ = InvalidOid;  // tids of the work table are valid while it is the same
  bool reuse_ = false;
};

}  // namespace ai::worker
