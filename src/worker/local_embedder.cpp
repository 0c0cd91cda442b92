#include "worker/local_embedder.hpp"

#include "pg/guard.hpp"

namespace ai::worker {

void LocalEmbedder::Start(Lane& lane, std::vector<Item> items) {
  const auto& model = lane.vectorizer->local_model();
  if (!encoder_ || &encoder_->model() != model.get()) {
    encoder_.emplace(model);
  }
  items_ = std::move(items);
  texts_.clear();
  for (const Item& item : items_) {
    texts_.emplace_back(item.get().text);
  }
  embeddings_ = std::make_shared<provider::Embeddings>();
  embeddings_->dimensions = model->dimensions();
  embeddings_->values.resize(texts_.size() * model->dimensions());
  encoder_->Start(texts_, embeddings_->values, model::Purpose::kPassage);
  lane_ = &lane;
}

bool LocalEmbedder::Step() {
  return encoder_->Step(pg::ServeInterrupts);
}

LocalEmbedder::Done LocalEmbedder::Take() {
  embeddings_->input_tokens = static_cast<std::int64_t>(encoder_->tokens());
  Done done{lane_, std::move(items_), std::move(embeddings_),
            static_cast<std::int64_t>(encoder_->truncated().size())};
  lane_ = nullptr;
  return done;
}

}  // namespace ai::worker
