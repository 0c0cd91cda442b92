// OpenAI, and every server that speaks its API.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json/document.hpp"
#include "core/json/value.hpp"
#include "core/provider/provider.hpp"
#include "core/token/token_id.hpp"

namespace ai::provider {

class OpenAi final : public Provider {
 public:
  explicit OpenAi(const json::Value& config);

  /// The request for texts that are given as the ids of their tokens.
  http::Request BuildFromTokens(std::span<const std::vector<token::TokenId>> inputs,
                                const Endpoint& endpoint) const;

 private:
  void WriteBody(json::Writer& writer, std::span<const std::string_view> texts) const override;
  void WriteOptions(json::Writer& writer) const;

  std::string user_;
  bool sends_dimensions_;
  std::optional<json::Document> extra_body_;  // goes before what we would write ourselves
};

}  // namespace ai::provider
