#include "core/pipeline/embedded_model.hpp"

namespace ai::pipeline {

void ModelRunner::Start(Queue& queue, std::vector<Item> items) {
  items_ = std::move(items);
  texts_.clear();
  for (const Item& item : items_) {
    texts_.emplace_back(item.get().text);
  }
  const std::size_t dimensions = queue.source->traits().dimensions;
  embeddings_ = std::make_shared<provider::Embeddings>();
  embeddings_->dimensions = dimensions;
  embeddings_->values.resize(texts_.size() * dimensions);
  model_.Start(queue.source->traits(), texts_, *embeddings_);
  queue_ = &queue;
  queue.outbox.OnSent();
}

Step<std::optional<ModelRunner::Done>> ModelRunner::Advance() {
  const auto done = model_.Advance();
  if (!done) {
    return done.failure();
  }
  if (!done.value()) {
    return std::optional<Done>();
  }
  std::exchange(queue_, nullptr)->outbox.OnEnded();
  return std::optional(Done{std::move(items_), std::move(embeddings_), model_.truncated()});
}

std::vector<Item> ModelRunner::TakeUnstarted(Queue& queue) {
  if (queue_ != &queue) {
    return {};
  }
  const std::size_t begun = model_.DropUnstarted();
  const auto rest = items_.begin() + static_cast<std::ptrdiff_t>(begun);
  std::vector<Item> unbegun(std::make_move_iterator(rest), std::make_move_iterator(items_.end()));
  items_.erase(rest, items_.end());
  embeddings_->values.resize(begun * embeddings_->dimensions);
  if (begun == 0) {
    Cancel(queue);
  }
  return unbegun;
}

void ModelRunner::Cancel(Queue& queue) {
  if (queue_ == &queue) {
    queue_ = nullptr;
    queue.outbox.OnEnded();
  }
}

}  // namespace ai::pipeline
