// The files of a model directory that describe its tokenizer: tokenizer.json, or vocab.txt with
// tokenizer_config.json. What asks for another kind of tokenizer than ours is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/wordpiece.hpp"

namespace ai::model {

struct TokenizerSource {
  std::vector<std::string> tokens;
  TokenizerRules rules;
};

/// Throws Error: kInvalidText or kInvalidParameter if the text is no tokenizer, kNotSupported if it
/// is one of another kind. Both have room for `size` tokens, with empty ones where there is none.
TokenizerSource ParseTokenizer(std::string_view json, std::size_t size);
/// One token in each line; the configuration may be empty.
TokenizerSource ParseVocabulary(std::string_view lines, std::string_view config, std::size_t size);

}  // namespace ai::model
