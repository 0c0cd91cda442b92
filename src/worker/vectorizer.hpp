// A vectorizer as a worker needs it: its configuration turned into code, its statements prepared.
#pragma once

#include "core/json/document.hpp"
#include "core/model/model.hpp"
#include "core/policy/content_hash.hpp"
#include "core/provider/provider.hpp"
#include "core/text/splitter.hpp"
#include "core/text/template.hpp"
#include "core/token/encoding.hpp"
#include "pg/statement.hpp"

namespace ai::worker {

/// The statements of sql/63-pipeline.sql; which of the last two groups there are depends on the
/// destination.
struct Statements {
  using Text = const std::function<std::string(const char*)>&;
  Statements(Text text, Oid vector_array, bool column);

  pg::Statement claim, read, retry_due, held, done, give_back, give_back_all, try_again, fail,
      alive;
  std::optional<pg::Statement> chunks, vectors, insert, upsert, trim, reuse;
  std::optional<pg::Statement> lock, update;
};

class Vectorizer {
 public:
  /// Reads it from the catalog. Throws ai::Error if its configuration cannot be used; pg::Error if
  /// a table of it is gone.
  Vectorizer(pg::Spi& spi, std::int32_t id);

  const std::int32_t id;
  std::string name;
  Oid queue = InvalidOid;
  Oid work = InvalidOid;
  Oid owner = InvalidOid;
  Oid vector_type = InvalidOid;

  const json::Value config() const { return document_->root(); }
  const json::Value embedding() const { return config().At("embedding"); }
  /// The embedded model; null if a provider is asked.
  const std::shared_ptr<const model::Model>& local_model() const { return local_model_; }
  /// INVARIANT: not with an embedded model.
  const provider::Provider& provider() const { return *provider_; }
  std::string model() const { return std::string(embedding().GetString("model")); }
  std::size_t dimensions() const {
    return static_cast<std::size_t>(embedding().GetInteger("dimensions"));
  }
  const token::Encoding* encoding() const { return encoding_.get(); }
  const text::Splitter& splitter() const { return *splitter_; }
  const policy::ContentHasher& hasher() const { return *hasher_; }
  Statements& statements() { return *statements_; }

  bool column() const { return column_; }  // the destination is a column of the source
  bool reuse() const { return reuse_; }
  std::size_t batch_size() const { return batch_size_; }
  std::size_t concurrency() const { return concurrency_; }
  int max_attempts() const { return max_attempts_; }

  /// The columns of the template, without $chunk.
  const std::vector<std::string>& columns() const { return columns_; }

  /// The text that is embedded and stored for a chunk. Columns come in the order of the template's
  /// placeholders, without $chunk.
  std::string Format(std::string_view chunk,
                     std::span<const std::optional<std::string>> columns) const;

 private:
  void ReadProcessing();

  std::optional<json::Document> document_;
  std::unique_ptr<provider::Provider> provider_;
  std::shared_ptr<const model::Model> local_model_;
  std::shared_ptr<const token::Encoding> encoding_;
  std::unique_ptr<text::Splitter> splitter_;
  std::optional<text::Template> template_;
  std::vector<std::string> columns_;  // of the template
  std::optional<policy::ContentHasher> hasher_;
  std::unique_ptr<Statements> statements_;
  bool column_ = false;
  bool reuse_ = false;
  std::size_t batch_size_ = 0;
  std::size_t concurrency_ = 0;
  int max_attempts_ = 0;
};

}  // namespace ai::worker
