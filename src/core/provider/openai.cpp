// See openai.hpp.
#include "core/provider/openai.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/provider/ascii.hpp"
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

/// The one model of OpenAI that refuses to be told its dimensions. Names in Azure end with it.
constexpr std::string_view kFixedModel = "text-embedding-ada-002";

/// How the names of other models begin whose vectors have one length, behind the name of who made
/// them. Asked for that very length, vLLM and others refuse.
constexpr std::array<std::string_view, 7> kFixedModels = {
    "all-minilm-", "all-mpnet-", "bge-", "e5-", "multilingual-e5-", "paraphrase-", "mistral-embed"};

bool HasDimensions(std::string_view model) {
  if (model.ends_with(kFixedModel)) {
    return false;
  }
  std::string name(model.substr(model.rfind('/') + 1));  // npos + 1 is 0
  std::transform(name.begin(), name.end(), name.begin(), Lower);
  return std::none_of(kFixedModels.begin(), kFixedModels.end(),
                      [&](std::string_view fixed) { return name.starts_with(fixed); });
}

std::optional<json::Document> ReadExtraBody(const json::Value& config) {
  std::optional<json::Document> body = ReadObject(config, "extra_body");
  for (const std::string_view key : {"model", "input"}) {
    if (body.has_value() && body->root().Find(key).has_value()) {
      throw Error(ErrorCode::kInvalidParameter,
                  "extra_body must not have the member \"" + std::string(key) + "\"", {},
                  "Give it as an argument of its own.");
    }
  }
  return body;
}

}  // namespace

OpenAi::OpenAi(const json::Value& config)
    : Provider({ReadModel(config), ReadDimensions(config), LimitsOf(ReadModel(config)),
                "embeddings", kShape}),
      user_(config.GetString("chat_user", "")),
      sends_dimensions_(config.GetBool("send_dimensions", HasDimensions(model()))),
      extra_body_(ReadExtraBody(config)) {}

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
  const auto is_ours = [&](std::string_view key) {
    return !extra_body_.has_value() || !extra_body_->root().Find(key).has_value();
  };
  if (is_ours("encoding_format")) {
    writer.Key("encoding_format").String("base64");
  }
  if (dimensions() != 0 && sends_dimensions_ && is_ours("dimensions")) {
    WriteCount(writer, "dimensions", dimensions());
  }
  if (is_ours("user")) {
    WriteText(writer, "user", user_);
  }
  if (extra_body_.has_value()) {
    for (const json::Member member : extra_body_->root().members()) {
      writer.Key(member.key).Copy(member.value);
    }
  }
}

}  // namespace ai::provider
