// Voyage AI.
#include <algorithm>
#include <array>
#include <string>

#include "core/provider/config.hpp"
#include "core/provider/registry.hpp"

namespace ai::provider {
namespace {

constexpr ReplyShape kShape{.vector = "data[].embedding",
                            .item = "data[]",
                            .index = "data[].index",
                            .tokens = "usage.total_tokens",
                            .base64 = true};

struct Model {
  std::string_view name;
  std::size_t max_items;
  std::size_t max_tokens;  // of a request
  bool has_dimensions;     // it can be asked for vectors of another length than its own
};

constexpr std::array kModels = {
    Model{"voyage-3.5-lite", 1000, 1'000'000, true},
    Model{"voyage-3.5", 1000, 320'000, true},
    Model{"voyage-3-large", 1000, 120'000, true},
    Model{"voyage-3-lite", 1000, 1'000'000, false},
    Model{"voyage-3", 1000, 320'000, false},
    Model{"voyage-code-3", 1000, 120'000, true},
    Model{"voyage-finance-2", 1000, 120'000, false},
    Model{"voyage-law-2", 1000, 120'000, false},
    Model{"voyage-multilingual-2", 1000, 120'000, false},
    Model{"voyage-large-2", 128, 120'000, false},
    Model{"voyage-large-2-instruct", 128, 120'000, false},
    Model{"voyage-code-2", 128, 120'000, false},
    Model{"voyage-2", 128, 320'000, false},
};

/// For what is newer than this table: the smallest limits of the present models.
constexpr Model kUnknown{"", 1000, 120'000, true};

const Model& Find(std::string_view name) {
  const auto found = std::find_if(kModels.begin(), kModels.end(),
                                  [name](const Model& model) { return model.name == name; });
  return found == kModels.end() ? kUnknown : *found;
}

/// Voyage has tokens of its own, up to a fifth more of them than we count. It truncates by itself.
Limits LimitsOf(const Model& model) {
  return {.max_items = model.max_items, .max_tokens = model.max_tokens / 5 * 4};
}

class Voyage final : public Provider {
 public:
  explicit Voyage(const json::Value& config)
      : Provider({ReadModel(config), ReadDimensions(config),
                  LimitsOf(Find(config.GetString("model", ""))), "embeddings", kShape}),
        input_type_(config.GetString("input_type", "")),
        truncation_(config.GetBool("truncation", true)),
        has_dimensions_(Find(model()).has_dimensions) {}

 private:
  void WriteBody(json::Writer& writer, std::span<const std::string_view> texts) const override {
    writer.Key("input");
    WriteTexts(writer, texts);
    WriteText(writer, "input_type", input_type_);
    writer.Key("truncation").Bool(truncation_);
    writer.Key("encoding_format").String("base64");
    if (dimensions() != 0 && has_dimensions_) {
      WriteCount(writer, "output_dimension", dimensions());
    }
  }

  std::string input_type_;
  bool truncation_;
  bool has_dimensions_;
};

}  // namespace

std::unique_ptr<Provider> MakeVoyage(const json::Value& config, const Environment& /*unused*/) {
  return std::make_unique<Voyage>(config);
}

}  // namespace ai::provider
