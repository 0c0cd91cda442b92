// Cuts text into the tokens of a BERT model, as the reference tokenizer does: control characters
// dropped, ideographs and punctuation set apart, lower case and no accents if the model wants that,
// then for each word the longest pieces of the vocabulary from left to right. A word without such
// pieces, or of more than 100 characters, is one unknown token.
//
// A special token that is written out in a text, such as [SEP], is that token, as everywhere in
// this field. Time is linear in the text and memory constant, whatever the text is; bytes that are
// not UTF-8 are dropped.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "core/model/characters.hpp"
#include "core/model/vocabulary.hpp"

namespace ai::model {

struct TokenizerRules {
  Folding folding;
  bool space_ideographs = true;
  TokenId unknown = kNoToken;
  TokenId start = kNoToken;  // [CLS]
  TokenId end = kNoToken;    // [SEP]
  std::vector<TokenId> specials = {};
};

class WordPiece {
 public:
  WordPiece(const Vocabulary& vocabulary, TokenizerRules rules);

  const TokenizerRules& rules() const { return rules_; }

  /// Appends the tokens of prefix and text together, between start and end, but no more than limit
  /// tokens in all (at least 2). Returns whether there was more.
  bool Tokenize(std::string_view prefix, std::string_view text, std::size_t limit,
                std::vector<TokenId>& ids, InterruptCheck pending = nullptr) const;

  /// How many tokens that would be without a limit.
  std::size_t Count(std::string_view text, InterruptCheck pending = nullptr) const;

 private:
  class Walk;

  TokenId SpecialAt(std::string_view text) const;

  Vocabulary vocabulary_;
  TokenizerRules rules_;
  std::size_t longest_ = 0;  // token, in bytes
  std::array<bool, 256> starts_special_ = {};
};

}  // namespace ai::model
