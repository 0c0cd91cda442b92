// Embeds one batch after the other with a model in this process, in slices of about ten
// milliseconds: between two slices the worker checks its latch, sends heartbeats, and drives the
// requests to providers.
#pragma once

#include "core/pipeline/queue.hpp"

namespace ai::pipeline {

/// The model itself.
class EmbeddedModel {
 public:
  EmbeddedModel() = default;
  EmbeddedModel(const EmbeddedModel&) = delete;
  EmbeddedModel& operator=(const EmbeddedModel&) = delete;
  virtual ~EmbeddedModel() = default;

  /// Starts a batch. INVARIANT: texts and out stay valid until it has ended or the next Start.
  virtual void Start(const SourceTraits& source, std::span<const std::string_view> texts,
                     provider::Embeddings& out) = 0;
  /// Computes one slice. True when all vectors are complete.
  virtual Step<bool> Advance() = 0;
  /// Drops the texts not started yet. Returns how many precede them.
  virtual std::size_t DropUnstarted() = 0;
  /// How many of the texts were truncated to the model's maximum length.
  virtual std::int64_t truncated() const = 0;
};

class ModelRunner final {
 public:
  explicit ModelRunner(EmbeddedModel& model) : model_(model) {}

  bool busy() const { return queue_ != nullptr; }
  Queue* queue() const { return queue_; }

  /// INVARIANT: not busy.
  void Start(Queue& queue, std::vector<Item> items);

  struct Done {
    std::vector<Item> items;
    std::shared_ptr<provider::Embeddings> embeddings;
    std::int64_t truncated;
  };
  /// Computes one slice of the current batch; nothing if it is not complete yet.
  Step<std::optional<Done>> Advance();

  /// Removes and returns the items of a queue that were not started.
  std::vector<Item> TakeUnstarted(Queue& queue);
  /// Abandons the current batch if it is of this queue.
  void Cancel(Queue& queue);

 private:
  EmbeddedModel& model_;
  Queue* queue_ = nullptr;
  std::vector<Item> items_;
  std::vector<std::string_view> texts_;
  std::shared_ptr<provider::Embeddings> embeddings_;
};

}  // namespace ai::pipeline
