// Ollama, from version 0.3 on, which has /api/embed.
#include <charconv>
#include <string>
#include <system_error>

#include "core/provider/config.hpp"
#include "core/provider/registry.hpp"

namespace ai::provider {
namespace {

constexpr ReplyShape kShape{.vector = "embeddings[]", .tokens = "prompt_eval_count"};

class Ollama final : public Provider {
 public:
  Ollama(const json::Value& config, const Environment& environment)
      : Provider({ReadModel(config), ReadDimensions(config),
                  Limits{.max_items = environment.ollama_max_chunks_per_batch}, "api/embed",
                  kShape}),
        keep_alive_(config.GetString("keep_alive", "")),
        options_(ReadObject(config, "options")),
        truncate_(config.GetBool("truncate", true)) {}

 private:
  void WriteBody(json::Writer& writer, std::span<const std::string_view> texts) const override {
    writer.Key("input");
    WriteTexts(writer, texts);
    writer.Key("truncate").Bool(truncate_);
    WriteObject(writer, "options", options_);
    WriteKeepAlive(writer);
  }

  /// "5m" is a duration, "-1" and "300" are seconds, which Ollama takes as numbers only.
  void WriteKeepAlive(json::Writer& writer) const {
    std::int32_t seconds = 0;
    const char* const end = keep_alive_.data() + keep_alive_.size();
    const auto [ptr, error] = std::from_chars(keep_alive_.data(), end, seconds);
    if (!keep_alive_.empty() && ptr == end && error == std::errc()) {
      writer.Key("keep_alive").Integer(seconds);
    } else {
      WriteText(writer, "keep_alive", keep_alive_);
    }
  }

  std::string keep_alive_;
  std::optional<json::Document> options_;
  bool truncate_;
};

}  // namespace

std::unique_ptr<Provider> MakeOllama(const json::Value& config, const Environment& environment) {
  return std::make_unique<Ollama>(config, environment);
}

}  // namespace ai::provider
