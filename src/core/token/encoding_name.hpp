// Which encodings there are and which model uses which. An unknown model is an expected answer, not
// an error: the caller then estimates (see estimate.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/token/split.hpp"
#include "core/token/token_id.hpp"

namespace ai::token {

enum class EncodingName { kCl100kBase, kO200kBase };

struct NamedToken {
  std::string_view text;
  TokenId id;
};

/// What is fixed about an encoding, apart from its ranks.
struct EncodingFacts {
  EncodingName name;
  std::string_view text;  // its name as users write it
  SplitRule split_rule;
  std::span<const NamedToken> special_tokens;
};

const EncodingFacts& FactsOf(EncodingName name);

/// "cl100k_base" or "o200k_base"; anything else is no encoding.
std::optional<EncodingName> ParseEncodingName(std::string_view text);

/// The encoding that an OpenAI model counts its tokens in. Knows families, so that next month's
/// gpt-4o-something is known too; a vendor prefix "openai/" and fine-tuned "ft:" names are
/// understood.
std::optional<EncodingName> EncodingForModel(std::string_view model);

/// Where the packed table of an encoding is, given the directory of all of them.
std::string TablePath(std::string_view directory, EncodingName name);

}  // namespace ai::token
