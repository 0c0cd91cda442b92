// A vectorizer as a worker needs it: its configuration turned into code, its statements prepared.
#pragma once

#include "core/policy/content_hash.hpp"
#include "core/text/splitter.hpp"
#include "core/text/template.hpp"
#include "pg/statement.hpp"
#include "worker/source.hpp"

namespace ai::worker {

/// The statements of sql/63-pipeline.sql; which of the last two groups there are depends on the
/// destination.
struct Statements {
  using Text = const std::function<std::string(const char*)>&;
  Statements(Text text, Oid vector_array, bool column);

  pg::Statement claim, read, retry_due, suspects, held, done, give_back, give_back_all, try_again,
      fail, alive;
  std::optional<pg::Statement> chunks, vectors, insert, upsert, trim, reuse;
  std::optional<pg::Statement> lock, update;
};

class Vectorizer final : public Source {
 public:
  /// Reads it from the catalog. Throws ai::Error if its configuration cannot be used; pg::Error if
  /// a table of it is gone.
  Vectorizer(pg::Spi& spi, std::int32_t id);

  bool IsOutdated() override;

  // The steps: taking and reading in take.cpp, cut.cpp, store.cpp, ending.cpp.
  Taken Take(Lane& lane, Datum lease, std::size_t most, Wanted wanted) override;
  std::vector<Read> ReadTaken(Lane& lane, Datum lease, std::size_t bytes) override;
  RowPtr Cut(const Read& read) const override;
  void Reuse(Lane& lane, std::vector<RowPtr>& rows) override;
  std::vector<RowPtr> Store(Lane& lane, Datum lease, std::span<const RowPtr> rows) override;
  bool IsGone(Lane& lane, const RowPtr& row) override;
  std::vector<RowPtr> StillHeld(Lane& lane, Datum lease, std::span<const RowPtr> rows) override;
  void GiveBack(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                std::chrono::milliseconds delay) override;
  void GiveBackAll(Datum lease) override;
  void TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
                const Failure& failure) override;
  void GiveUp(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
              const Failure& failure) override;

  const std::int32_t id;
  std::string name;
  Oid source = InvalidOid;
  Oid target = InvalidOid;  // none, if the destination is a column of the source
  Oid queue = InvalidOid;

  const json::Value config() const { return document_->root(); }
  const json::Value embedding() const override { return config().At("embedding"); }
  const text::Splitter& splitter() const { return *splitter_; }
  const policy::ContentHasher& hasher() const { return *hasher_; }
  Statements& statements() { return *statements_; }

  bool column() const { return column_; }  // the destination is a column of the source
  bool reuse() const { return reuse_; }
  bool by_priority() const { return by_priority_; }  // rows have one each
  int max_attempts() const { return max_attempts_; }

  /// Keep others from altering the tables until the end of the transaction. Throw TableLocked if
  /// somebody has locked one already.
  void LockForReading() const;
  void LockForStoring() const;

  /// The columns of the template, without $chunk.
  const std::vector<std::string>& columns() const { return columns_; }

  /// The text that is embedded and stored for a chunk. Columns come in the order of the template's
  /// placeholders, without $chunk.
  std::string Format(std::string_view chunk,
                     std::span<const std::optional<std::string>> columns) const;

 private:
  void ReadProcessing();

  std::optional<json::Document> document_;
  std::unique_ptr<text::Splitter> splitter_;
  std::optional<text::Template> template_;
  std::vector<std::string> columns_;  // of the template
  std::optional<policy::ContentHasher> hasher_;
  std::string statement_texts_;
  std::unique_ptr<Statements> statements_;
  bool column_ = false;
  bool reuse_ = false;
  bool by_priority_ = false;
  int max_attempts_ = 0;
};

}  // namespace ai::worker
