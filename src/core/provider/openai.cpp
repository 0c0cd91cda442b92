// See openai.hpp.
#include "core/provider/openai.hpp"

#include "core/provider/config.hpp"
#include "core/token/encoding_name.hpp"

namespace ai::provider {
namespace {

/// A text is only cut for the models whose limit is known: servers with the same API have others.
Limits LimitsOf(std::string_view model) {
  return {.max_items = 2048,
          .max_tokens = 300'000,
          .max_input_tokens = token::EncodingForModel(model) ? std::size_t{8191} : 0};
}

constexpr ReplyShape kShape{.vector = "data[].embedding",
                            .item = "data[]",
                            .index = "data[].index",
                            .tokens = "usage.prompt_tokens",
                            .base64 = true};

/// The one model of OpenAI that refuses to be told its dimensions.
constexpr std::string_view kFixedModel = "text-embedding-ada-002";

}  // namespace

OpenAi::OpenAi(const json::Value& config)
    : Provider({ReadModel(config), ReadDimensions(config), LimitsOf(ReadModel(config)),
                "embeddings", kShape}),
      user_(config.GetString("chat_user", "")) {}

void OpenAi::WriteBody(json::Writer& writer, std::span<const std::string_view> texts) const {
  writer.Key("input");
  WriteTexts(writer, texts);
  WriteOptions(writer);
}

http::Request OpenAi::BuildFromTokens(std::span<const std::vector<token::TokenId>> inputs,
                                      const Endpoint& endpoint) const {
  return Post(endpoint, inputs.size(), [&](json::Writer& writer) {
    writer.Key("input").BeginArray();
    for (const std::vector<token::TokenId>& input : inputs) {
      writer.BeginArray();
      for (const token::TokenId id : input) {
        writer.Integer(id);
      }
      writer.EndArray();
    }
    writer.EndArray();
    WriteOptions(writer);
  });
}

void OpenAi::WriteOptions(json::Writer& writer) const {
  writer.Key("encoding_format").String("base64");
  if (dimensions() != 0 && !model().ends_with(kFixedModel)) {
    WriteCount(writer, "dimensions", dimensions());
  }
  WriteText(writer, "user", user_);
}

}  // namespace ai::provider
