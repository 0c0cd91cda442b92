// The embedded model, in slices.
#pragma once

#include "core/model/encoder.hpp"
#include "core/pipeline/embedded_model.hpp"

namespace ai::worker {

class LocalModel final : public pipeline::EmbeddedModel {
 public:
  void Start(const pipeline::SourceTraits& source, std::span<const std::string_view> texts,
             provider::Embeddings& out) override;
  pipeline::Step<bool> Advance() override;
  std::size_t DropUnstarted() override { return encoder_->DropUnstarted(); }
  std::int64_t truncated() const override;

 private:
  std::optional<model::Encoder> encoder_;
  provider::Embeddings* out_ = nullptr;
};

}  // namespace ai::worker
