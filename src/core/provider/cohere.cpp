// Cohere, version 2 of its API.
#include <string>

#include "core/provider/config.hpp"
#include "core/provider/registry.hpp"

namespace ai::provider {
namespace {

/// The number of texts is the only limit of a request; Cohere truncates by itself.
constexpr Limits kLimits{.max_items = 96};

constexpr ReplyShape kShape{.vector = "embeddings.float[]",
                            .tokens = "meta.billed_units.input_tokens"};

/// The models up to version 3 have vectors of one length only.
bool HasDimensions(std::string_view model) {
  return !model.ends_with("v2.0") && !model.ends_with("v3.0");
}

class Cohere final : public Provider {
 public:
  explicit Cohere(const json::Value& config)
      : Provider({ReadModel(config), ReadDimensions(config), kLimits, "embed", kShape}),
        input_type_(config.GetString("input_type", "search_document")),
        truncate_(config.GetString("truncate", "END")) {}

 private:
  void WriteBody(json::Writer& writer, std::span<const std::string_view> texts) const override {
    writer.Key("texts");
    WriteTexts(writer, texts);
    WriteText(writer, "input_type", input_type_);
    WriteText(writer, "truncate", truncate_);
    writer.Key("embedding_types").BeginArray().String("float").EndArray();
    if (dimensions() != 0 && HasDimensions(model())) {
      WriteCount(writer, "output_dimension", dimensions());
    }
  }

  std::string input_type_;
  std::string truncate_;
};

}  // namespace

std::unique_ptr<Provider> MakeCohere(const json::Value& config, const Environment& /*unused*/) {
  return std::make_unique<Cohere>(config);
}

}  // namespace ai::provider
