// Embeds the texts of one batch after the other with a model in this process, a slice of about ten
// milliseconds at a time: between two slices the worker answers its latch, beats, and serves the
// requests to providers.
#pragma once

#include "core/pipeline/queue.hpp"

namespace ai::pipeline {

/// What computes.
class EmbeddedModel {
 public:
  EmbeddedModel() = default;
  EmbeddedModel(const EmbeddedModel&) = delete;
  EmbeddedModel& operator=(const EmbeddedModel&) = delete;
  virtual ~EmbeddedModel() = default;

  /// Begins with texts. INVARIANT: they and out live until it has ended, or begins anew.
  virtual void Start(const SourceTraits& source, std::span<const std::string_view> texts,
                     provider::Embeddings& out) = 0;
  /// One slice. True when all vectors are there.
  virtual Step<bool> Advance() = 0;
  /// Leaves out the texts that it has not begun with. Returns how many come before.
  virtual std::size_t LeaveRest() = 0;
  /// How many of the texts were longer than the model takes.
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
  /// One slice of what is under way; nothing if there is more to do.
  Step<std::optional<Done>> Advance();

  /// Takes out what it has not begun with, of a queue.
  std::vector<Item> TakeUnbegun(Queue& queue);
  /// Gives up what is under way for a queue.
  void Cancel(Queue& queue);

 private:
  EmbeddedModel& model_;
  Queue* queue_ = nullptr;
  std::vector<Item> items_;
  std::vector<std::string_view> texts_;
  std::shared_ptr<provider::Embeddings> embeddings_;
};

}  // namespace ai::pipeline
