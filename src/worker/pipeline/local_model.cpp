#include "worker/pipeline/local_model.hpp"

#include "pg/guard.hpp"
#include "worker/statements/step.hpp"

namespace ai::worker {

void LocalModel::Start(const pipeline::SourceTraits& source,
                       std::span<const std::string_view> texts, provider::Embeddings& out) {
  if (!encoder_ || &encoder_->model() != source.local.get()) {
    encoder_.emplace(source.local);
  }
  out_ = &out;
  encoder_->Start(texts, out.values, model::Purpose::kPassage);
}

pipeline::Step<bool> LocalModel::Advance() {
  return RunStep([this] {
    const bool done = encoder_->Step(pg::ServeInterrupts);
    if (done) {
      out_->input_tokens = static_cast<std::int64_t>(encoder_->tokens());
    }
    return done;
  });
}

std::int64_t LocalModel::truncated() const {
  return static_cast<std::int64_t>(encoder_->truncated().size());
}

}  // namespace ai::worker
